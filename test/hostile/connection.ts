import { connect, type Socket } from 'node:net';
import type { Raw } from './requests.ts';

/** A bare client: it sends exactly the bytes that it is given, and reads answers strictly. */
export type Answer = {
  readonly status: number;
  /** By the name in lower case; several of the same name are joined by commas. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
};

export type Outcome =
  | { readonly answer: Answer; readonly further: readonly Answer[] }
  | { readonly failure: 'no answer' | 'reset' | 'closed' | 'garbled'; readonly detail: string };

export type Connection = {
  /** One request, one answer. The connection is opened again when the service has closed it. */
  exchange(bytes: Buffer, method: string): Promise<Outcome>;
  close(): void;
};

const HEAD_END = Buffer.from('\r\n\r\n');
/** How long an answer may take. Nothing that these requests ask for waits. */
const ANSWER_MS_MAX = 30_000;

type Parsed = { readonly answer: Answer; readonly length: number; readonly keepsOpen: boolean };

class GarbledAnswer extends Error {}

function readHead(text: string): { status: number; headers: Map<string, string> } {
  const [first = '', ...lines] = text.split('\r\n');
  const status = /^HTTP\/1\.1 ([1-5]\d\d) /.exec(first)?.[1];
  if (status === undefined)
    throw new GarbledAnswer(`an answer begins with ${JSON.stringify(first.slice(0, 100))}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1)
      throw new GarbledAnswer(`an answer has the header line ${JSON.stringify(line.slice(0, 100))}`);
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return { status: Number(status), headers };
}

/** The content of chunks from `start` on, and where they end; undefined while they are incomplete. */
function readChunks(bytes: Buffer, start: number): { body: Buffer; end: number } | undefined {
  const pieces: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) throw new GarbledAnswer('an answer has a chunk without a size');
    const end = lineEnd + 2 + size;
    if (bytes.length < end + 2) return undefined;
    if (size === 0) return { body: Buffer.concat(pieces), end: end + 2 };
    pieces.push(bytes.subarray(lineEnd + 2, end));
    at = end + 2;
  }
}

/** The first answer in the bytes; undefined while it is incomplete. Interim answers (100 Continue) are passed over. */
export function readAnswer(bytes: Buffer, method: string, isEnded: boolean): Parsed | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const { status, headers } = readHead(bytes.toString('latin1', 0, headEnd));
  const start = headEnd + HEAD_END.length;
  if (status < 200) {
    const next = readAnswer(bytes.subarray(start), method, isEnded);
    return next && { ...next, length: next.length + start };
  }
  const keepsOpen = headers.get('connection')?.toLowerCase() !== 'close';
  const done = (body: Buffer, end: number): Parsed => ({
    answer: { status, headers, body },
    length: end,
    keepsOpen,
  });
  if (method === 'HEAD' || status === 204 || status === 304) return done(Buffer.alloc(0), start);
  // A stream of events does not end: its head is the answer, and the connection is closed.
  if (headers.get('content-type')?.startsWith('text/event-stream'))
    return { ...done(Buffer.alloc(0), bytes.length), keepsOpen: false };
  if (headers.get('transfer-encoding') === 'chunked') {
    const read = readChunks(bytes, start);
    return read && done(read.body, read.end);
  }
  const length = headers.get('content-length');
  if (length === undefined)
    return isEnded ? { ...done(bytes.subarray(start), bytes.length), keepsOpen: false } : undefined;
  const end = start + Number(length);
  return bytes.length < end ? undefined : done(bytes.subarray(start, end), end);
}

type Address = { readonly host: string; readonly port: number };

function listen(
  socket: Socket,
  heard: { data(bytes: Buffer): void; ended(error: Error | undefined): void },
): NodeJS.Timeout {
  let error: Error | undefined;
  socket.on('data', heard.data);
  socket.on('error', (one) => {
    error = one;
  });
  socket.on('close', () => heard.ended(error));
  return setTimeout(() => socket.destroy(new Error('TIMEOUT')), ANSWER_MS_MAX);
}

function failureOf(error: Error | undefined, received: Buffer): Outcome {
  const detail = `${error?.message ?? 'the service closed the connection'}, after ${received.length} bytes of an answer`;
  if (error?.message === 'TIMEOUT')
    return { failure: 'no answer', detail: `no answer within ${ANSWER_MS_MAX / 1_000} s` };
  return { failure: error === undefined ? 'closed' : 'reset', detail };
}

/** Keeps its connection open from one request to the next. */
export function createConnection(address: Address): Connection {
  let socket: Socket | undefined;
  const release = (): void => {
    socket?.removeAllListeners();
    socket?.on('error', () => undefined);
  };
  const drop = (): void => {
    release();
    socket?.destroy();
    socket = undefined;
  };

  function attempt(bytes: Buffer, method: string): Promise<Outcome & { readonly wasReused: boolean }> {
    return new Promise((resolve) => {
      if (socket?.destroyed !== false || socket.readyState !== 'open') drop();
      const wasReused = socket !== undefined;
      socket ??= connect({ ...address, noDelay: true });
      let received: Buffer = Buffer.alloc(0);
      const finish = (outcome: Outcome, keepsOpen: boolean): void => {
        clearTimeout(timer);
        if (keepsOpen) release();
        else drop();
        resolve({ ...outcome, wasReused: wasReused && received.length === 0 });
      };
      const look = (isEnded: boolean): boolean => {
        try {
          const parsed = readAnswer(received, method, isEnded);
          if (parsed === undefined) return false;
          const isAlone = parsed.length === received.length;
          const outcome: Outcome = isAlone
            ? { answer: parsed.answer, further: [] }
            : { failure: 'garbled', detail: 'more bytes follow the answer' };
          finish(outcome, parsed.keepsOpen && isAlone && !isEnded);
        } catch (error) {
          finish({ failure: 'garbled', detail: (error as Error).message }, false);
        }
        return true;
      };
      const timer = listen(socket, {
        data(chunk) {
          received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
          look(false);
        },
        ended(error) {
          if (!look(true)) finish(failureOf(error, received), false);
        },
      });
      socket.write(bytes);
    });
  }

  return {
    async exchange(bytes, method) {
      const outcome = await attempt(bytes, method);
      // The service may close a connection that is not in use at any time: then the request goes over a new one.
      const isTooLate = 'failure' in outcome && outcome.failure !== 'no answer' && outcome.wasReused;
      return isTooLate ? attempt(bytes, method) : outcome;
    },
    close: drop,
  };
}

/** Sends bytes on a connection of their own, and reads everything until the service closes it. */
export function exchangeRaw(address: Address, { bytes, halfClose }: Raw, method: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = connect({ ...address, noDelay: true, allowHalfOpen: true });
    const parts: Buffer[] = [];
    const timer = listen(socket, {
      data: (chunk) => {
        parts.push(chunk);
        // An endless stream: its head is enough.
        if (chunk.includes('text/event-stream')) socket.destroy();
      },
      ended(error) {
        clearTimeout(timer);
        resolve(readAll(Buffer.concat(parts), method, error));
      },
    });
    socket.on('end', () => socket.end());
    if (halfClose === true) socket.end(bytes);
    else socket.write(bytes);
  });
}

function readAll(received: Buffer, method: string, error: Error | undefined): Outcome {
  const answers: Answer[] = [];
  try {
    for (let rest = received; rest.length > 0; ) {
      const parsed = readAnswer(rest, answers.length === 0 ? method : 'GET', true);
      if (parsed === undefined)
        return { failure: 'garbled', detail: 'the connection was closed in the middle of an answer' };
      answers.push(parsed.answer);
      rest = rest.subarray(parsed.length);
    }
  } catch (thrown) {
    return { failure: 'garbled', detail: (thrown as Error).message };
  }
  const [answer, ...further] = answers;
  return answer === undefined ? failureOf(error, received) : { answer, further };
}
