import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../limits.ts';

export type ConnectionBounds = {
  readonly connectionsMax: number;
  readonly sourceConnectionsMax: number;
  readonly pipelinedRequestsMax: number;
  readonly connectionUnreadBytesMax: number;
  readonly unreadBytesMax: number;
  readonly unreadMs: number;
  readonly unreadLookMs: number;
  readonly hangUpMs: number;
};

export type ConnectionOptions = ConnectionBounds & { readonly source?: typeof sourceOf };

/**
 * The connections of clients. Bounds what they can cost: how many there are, in all and per source, how many requests one
 * of them sends ahead, and how much memory answers take that nobody reads.
 */
export type Connections = {
  watch(server: Server): void;
  /** Handles a request, after the answers to all earlier requests of its connection have been sent. */
  take(request: IncomingMessage, response: ServerResponse): void;
  /** Whether no request of the connection is in progress. */
  isIdle(socket: Socket): boolean;
  /** Calls back with every request of the connection that arrives. */
  monitor(socket: Socket, arrived: (request: IncomingMessage) => void): void;
  /**
   * For bytes that are not a request: sends the answer after those to all earlier requests, and closes the connection. The answer
   * gets the request in whose body the bytes are, if they are in one.
   */
  reject(socket: Socket, answer: (inside: IncomingMessage | undefined) => string): void;
  /** While the service stops: closes connections without a request in progress, until the work has ended. */
  closeDuring<Result>(work: Promise<Result>): Promise<Result>;
};

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

type Connection = {
  readonly socket: Socket;
  readonly source: string | undefined;
  isUsed: boolean;
  arrived: ((request: IncomingMessage) => void) | undefined;
  isAnswering: boolean;
  /** The request in progress, or one that was answered although its body has not arrived. */
  current: Exchange | undefined;
  /** The last answer, to bytes that are not a request. */
  lastAnswer: string | undefined;
  /** Requests that arrived before the answer to the one before them was sent. */
  readonly pipelined: Exchange[];
  /** When it was opened, or its last answer was sent. */
  idleSinceMs: number;
  /** Bytes that the client, or the operating system for it, has accepted. */
  acceptedBytes: number;
  /** Since when it has accepted nothing although there is something to send. */
  stalledSinceMs: number | undefined;
};

/** While the service stops: how soon a connection is closed after its last response. */
const SWEEP_MS = 50;

const LOOPBACK = /^(127\.|::1$)/;

/**
 * What connections are counted by: an IPv4 address, or the /64 of an IPv6 one, which a single client can have. Undefined for
 * clients on the same machine: that is a proxy, behind which the clients cannot be told apart.
 */
export function sourceOf(address: string | undefined): string | undefined {
  const plain = address?.replace(/^::ffff:(?=[0-9.]+$)/, '');
  if (plain === undefined || LOOPBACK.test(plain)) return undefined;
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('::');
  const groups = head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length;
  return [...groups, ...Array.from({ length: Math.max(0, missing) }, () => '0')].slice(0, 4).join(':');
}

/** How many connections each source has. Only sources that have any are in the map. */
function createSourceCounts(): { add(source: string | undefined, change: 1 | -1): number } {
  const counts = new Map<string, number>();
  return {
    add(source, change) {
      if (source === undefined) return 0;
      const count = (counts.get(source) ?? 0) + change;
      if (count === 0) counts.delete(source);
      else counts.set(source, count);
      return count;
    },
  };
}

/** Notes whether the client has read anything since the last look. */
function noteProgress(connection: Connection, unreadBytes: number, nowMs: number): void {
  if (unreadBytes === 0) {
    connection.stalledSinceMs = undefined;
    return;
  }
  const acceptedBytes = connection.socket.bytesWritten - unreadBytes;
  if (connection.stalledSinceMs !== undefined && acceptedBytes === connection.acceptedBytes) return;
  connection.acceptedBytes = acceptedBytes;
  connection.stalledSinceMs = nowMs;
}

/** Closes connections whose clients do not read their answers. */
function closeUnread(connections: Iterable<Connection>, bounds: ConnectionBounds): void {
  const nowMs = performance.now();
  const unread: { readonly connection: Connection; readonly bytes: number; readonly sinceMs: number }[] = [];
  let inAll = 0;
  for (const connection of connections) {
    const bytes = connection.socket.writableLength;
    noteProgress(connection, bytes, nowMs);
    const sinceMs = connection.stalledSinceMs;
    if (sinceMs === undefined) continue;
    if (bytes > bounds.connectionUnreadBytesMax || nowMs - sinceMs >= bounds.unreadMs) {
      connection.socket.destroy();
      continue;
    }
    inAll += bytes;
    unread.push({ connection, bytes, sinceMs });
  }
  if (inAll <= bounds.unreadBytesMax) return;
  for (const { connection, bytes } of unread.sort((one, other) => one.sinceMs - other.sinceMs)) {
    if (inAll <= bounds.unreadBytesMax) return;
    inAll -= bytes;
    connection.socket.destroy();
  }
}

export function createConnections(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  { source: sourceFor = sourceOf, ...bounds }: ConnectionOptions = LIMITS,
): Connections {
  const servers: Server[] = [];
  const bySocket = new Map<Socket, Connection>();
  const sources = createSourceCounts();
  let timer: NodeJS.Timeout | undefined;

  /** Makes room for a new connection: an attacker who keeps connections open cannot keep others out. */
  function closeLongestIdle(): boolean {
    let longest: Connection | undefined;
    for (const connection of bySocket.values()) {
      if (connection.isAnswering || connection.socket.destroyed) continue;
      if (longest === undefined || connection.idleSinceMs < longest.idleSinceMs) longest = connection;
    }
    longest?.socket.destroy();
    return longest !== undefined;
  }

  function open(socket: Socket): void {
    const source = sourceFor(socket.remoteAddress);
    const isTooMany =
      sources.add(source, 1) > bounds.sourceConnectionsMax ||
      (bySocket.size >= bounds.connectionsMax && !closeLongestIdle());
    if (isTooMany) {
      sources.add(source, -1);
      socket.destroy();
      return;
    }
    bySocket.set(socket, {
      socket,
      source,
      isUsed: false,
      arrived: undefined,
      isAnswering: false,
      current: undefined,
      lastAnswer: undefined,
      pipelined: [],
      idleSinceMs: performance.now(),
      acceptedBytes: 0,
      stalledSinceMs: undefined,
    });
    timer ??= setInterval(() => closeUnread(bySocket.values(), bounds), bounds.unreadLookMs).unref();
    socket.once('close', () => closed(socket));
  }

  function closed(socket: Socket): void {
    const connection = bySocket.get(socket);
    if (connection === undefined) return;
    bySocket.delete(socket);
    connection.pipelined.length = 0;
    sources.add(connection.source, -1);
    if (bySocket.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function begin(connection: Connection, exchange: Exchange): void {
    const { request, response } = exchange;
    connection.isUsed = true;
    connection.isAnswering = true;
    connection.current = exchange;
    response.on('close', answered);
    handle(request, response);
  }

  /** Emitted exactly once: after the response was sent, when the client disconnects, or when the service disconnects it. */
  function answered(this: ServerResponse): void {
    const connection = bySocket.get(this.req.socket);
    if (connection === undefined) return;
    connection.isAnswering = false;
    if (this.req.complete) connection.current = undefined;
    connection.idleSinceMs = performance.now();
    const next = connection.socket.destroyed ? undefined : connection.pipelined.shift();
    if (next !== undefined) begin(connection, next);
    else if (connection.lastAnswer !== undefined) hangUp(connection.socket, connection.lastAnswer);
  }

  /** A client that still sends would not get the answer if the connection were closed at once. */
  function hangUp(socket: Socket, answer: string): void {
    if (socket.destroyed) return;
    socket.end(answer);
    setTimeout(() => socket.destroy(), bounds.hangUpMs).unref();
  }

  return {
    watch(server) {
      servers.push(server);
      server.on('connection', open);
    },
    take(request, response) {
      const connection = bySocket.get(request.socket);
      // Closed already, but the parser was not done with what had arrived.
      if (connection === undefined || connection.socket.destroyed) return;
      connection.arrived?.(request);
      if (!connection.isAnswering) begin(connection, { request, response });
      else if (connection.pipelined.length < bounds.pipelinedRequestsMax)
        connection.pipelined.push({ request, response });
      else connection.socket.destroy();
    },
    isIdle(socket) {
      const connection = bySocket.get(socket);
      const { isAnswering, current, lastAnswer } = connection ?? {};
      return connection !== undefined && !isAnswering && current === undefined && lastAnswer === undefined;
    },
    monitor(socket, arrived) {
      const connection = bySocket.get(socket);
      if (connection !== undefined) connection.arrived = arrived;
    },
    reject(socket, answer) {
      const connection = bySocket.get(socket);
      if (connection === undefined || socket.destroyed || connection.lastAnswer !== undefined) return;
      const newest = connection.pipelined.at(-1) ?? connection.current;
      // The bytes are inside the body of the newest request: the answer is one to this request, unless it has one.
      const inside = newest !== undefined && !newest.request.complete ? newest : undefined;
      if (inside?.response.headersSent) {
        connection.lastAnswer = '';
        socket.destroySoon();
        return;
      }
      const text = answer(inside?.request);
      connection.lastAnswer = text;
      if (inside !== undefined && inside === connection.current) {
        hangUp(socket, text);
        return;
      }
      if (inside !== undefined) connection.pipelined.pop();
      if (!connection.isAnswering) hangUp(socket, text);
    },
    async closeDuring(work) {
      // A server that closes does so only once with idle connections, and only after a minute with those without any
      // request so far, as browsers and HTTP clients open them in advance.
      const sweep = setInterval(() => {
        for (const server of servers) server.closeIdleConnections();
        for (const { isUsed, socket } of bySocket.values()) if (!isUsed) socket.destroy();
      }, SWEEP_MS);
      try {
        return await work;
      } finally {
        clearInterval(sweep);
      }
    },
  };
}
