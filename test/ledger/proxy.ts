import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseAddress } from '../../src/database/database.ts';

/** What happens to the next COMMIT. */
export type CommitFault =
  /** The server commits; its answer is lost with the connection. With `isLast`, no other connection is left, and none accepted. */
  | { readonly kind: 'answer-lost'; readonly isLast?: true }
  /** The connection breaks before the COMMIT reaches the server. */
  | { readonly kind: 'never-sent' }
  /** The connection to the client breaks at once; the server gets the COMMIT when the promise resolves. */
  | { readonly kind: 'late'; readonly sent: Promise<unknown> };

export type FaultyProxy = {
  readonly address: DatabaseAddress;
  /** Arms the proxy for one COMMIT. */
  failNextCommit(fault: CommitFault): void;
  /** How many COMMITs have failed. */
  readonly failed: number;
  /** Resolves when the server has closed the connection of the COMMIT that failed: it has executed it, or never will. */
  readonly done: Promise<void>;
  /** From now on errors have the severity that a Czech server gives them. */
  speakCzech(): void;
  /** Breaks every connection, now. */
  cut(): void;
  close(): Promise<void>;
};

const COMMIT = /\bcommit\0/i;
const PREPARES_COMMIT = /(ferry_\d+)\0commit\0/;
/** The end of an answer when no transaction is open. */
const READY = Buffer.from('Z\0\0\0\u0005I', 'latin1');

/** The localized severity of an error message (`S`); the other one (`V`) is never translated. */
function inCzech(data: Buffer): Buffer {
  return Buffer.from(data.toString('latin1').replaceAll('SERROR\0V', 'SCHYBA\0V'), 'latin1');
}

/** A proxy between driver and server, on a unix socket, that breaks connections at the worst moment. */
export async function startProxy(
  address: Extract<DatabaseAddress, { socketDir: string }>,
  place?: string,
): Promise<FaultyProxy> {
  const socketDir = place ?? (await mkdtemp(join(tmpdir(), 'ferry-proxy-')));
  await mkdir(socketDir, { recursive: true });
  const upstreamPath = join(address.socketDir, `.s.PGSQL.${address.port}`);
  const sockets = new Set<Socket>();
  let armed: CommitFault | undefined;
  let failed = 0;
  let isCzech = false;
  let isClosed = false;
  const { promise: done, resolve: isDone } = Promise.withResolvers<void>();

  const server = createServer((client) => {
    if (isClosed) {
      client.destroy();
      return;
    }
    const upstream = connect(upstreamPath);
    let isDropping = false;
    /** The name of the prepared statement that commits. */
    let commitName: string | undefined;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('close', () => !isDropping && upstream.destroy());
    upstream.on('close', () => {
      client.destroy();
      if (isDropping) isDone();
    });
    upstream.on('data', (data) => {
      if (isDropping) {
        client.destroy();
        // The answer to COMMIT proves that the server is done with it.
        if (data.subarray(-READY.length).equals(READY)) upstream.end();
      } else client.write(isCzech ? inCzech(data) : data);
    });
    client.on('data', (data) => {
      const fault = armed;
      const text = data.toString('latin1');
      commitName = PREPARES_COMMIT.exec(text)?.[1] ?? commitName;
      const commits = COMMIT.test(text) || (commitName !== undefined && text.includes(`\0${commitName}\0`));
      if (fault === undefined || !commits) {
        upstream.write(data);
        return;
      }
      armed = undefined;
      failed += 1;
      isDropping = true;
      if (fault.kind === 'answer-lost') {
        isClosed = fault.isLast === true;
        for (const socket of isClosed ? sockets : [])
          if (socket !== client && socket !== upstream) socket.destroy();
        upstream.write(data);
      } else client.destroy();
      if (fault.kind === 'never-sent') upstream.destroy();
      if (fault.kind === 'late') void fault.sent.then(() => upstream.end(data));
    });
  });
  await new Promise<void>((resolve) => server.listen(join(socketDir, '.s.PGSQL.5432'), resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: { ...address, socketDir, port: 5432 },
    failNextCommit(fault) {
      armed = fault;
    },
    get failed() {
      return failed;
    },
    done,
    speakCzech() {
      isCzech = true;
    },
    cut,
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
      await rm(socketDir, { recursive: true, force: true });
    },
  };
}
