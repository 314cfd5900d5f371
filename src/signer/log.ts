import { createHmac } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { LIMITS } from '../limits.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import type { SignedPage, SignedRecord } from './contract.ts';
import { SignerError } from './failure.ts';
import { createHistory, type Decision, type History } from './history.ts';

/**
 * The log of the signer: one line of JSON for each decision, only ever appended to, and on disk before a signature is returned.
 * Each line has the hash of the one before and its own, keyed with the signer's key: nobody else can write or change a line.
 */
export type DecisionLog = {
  readonly history: History;
  readonly path: string;
  readonly lines: number;
  /** Bytes of a last line that a crash had cut off, and that were removed. */
  readonly repairedBytes: number;
  /** What was signed for a network, from a line on. Reads the file again, which was verified at the start. */
  signed(network: CryptoNetwork, fromLine: number): Promise<SignedPage>;
  /** Resolves once the line is on disk. After a failure it always fails: what is on disk is not known then. */
  append(decision: Decision): Promise<void>;
  close(): Promise<void>;
};

type Line = { readonly previous: string; readonly decision: Decision; readonly hash: string };

const FIRST = '0'.repeat(64);
const NEWLINE = 0x0a;

function hashOf(key: Buffer, previous: string, decision: Decision): string {
  return createHmac('sha256', key)
    .update(`${previous}\n${JSON.stringify(decision)}`)
    .digest('hex');
}

/** Complete lines, and then what follows the last line break. */
async function* linesOf(
  file: FileHandle,
): AsyncGenerator<{ readonly text: Buffer; readonly isWhole: boolean }> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false }) as AsyncIterable<Buffer>) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE, start)) {
      yield { text: rest.subarray(start, end), isWhole: true };
      start = end + 1;
    }
    rest = rest.subarray(start);
    if (rest.length > LIMITS.signerLogLineBytesMax) break;
  }
  if (rest.length > 0) yield { text: rest, isWhole: false };
}

function verified(path: string, key: Buffer, text: Buffer, previous: string, number: number): Line {
  let line: Line | undefined;
  try {
    line = JSON.parse(text.toString('utf8')) as Line;
  } catch {
    // Reported below.
  }
  const isChained = line?.previous === previous && line.hash === hashOf(key, previous, line.decision);
  if (line !== undefined && isChained) return line;
  throw new SignerError(
    `${path}: line ${number} was changed, or lines before it are missing, or the log belongs to other keys. The signer does not start, because it cannot know what it has signed. Restore the log from a copy.`,
  );
}

/** Held while the process lives: a socket, which the system closes with it. Two signers on one log would break its chain. */
async function lock(path: string): Promise<Server> {
  const address = `${path}.lock`;
  const isAlive = await new Promise<boolean>((done) => {
    const socket = connect(address, () => done(true)).once('error', () => done(false));
    socket.once('connect', () => socket.destroy());
  });
  if (isAlive) throw new SignerError(`Another signer uses the log ${path}.`);
  rmSync(address, { force: true });
  const server = createServer((socket) => socket.destroy());
  return new Promise((done, fail) => {
    server.once('error', ({ message }) =>
      fail(new SignerError(`${address} cannot be created (${message}): choose a shorter path for the log.`)),
    );
    server.listen(address, () => done(server));
  });
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'a+', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new SignerError(`log names ${path}, which cannot be opened for writing (${code}).`);
  }
}

async function load(path: string, key: Buffer, file: FileHandle) {
  const history = createHistory();
  let [previous, lines, bytes, repairedBytes] = [FIRST, 0, 0, 0];
  for await (const { text, isWhole } of linesOf(file)) {
    if (!isWhole) {
      // The signature of a line that was not completely written was never returned.
      repairedBytes = (await file.stat()).size - bytes;
      await file.truncate(bytes);
      break;
    }
    const { decision, hash } = verified(path, key, text, previous, lines + 1);
    history.add(decision);
    [previous, lines, bytes] = [hash, lines + 1, bytes + text.length + 1];
  }
  return { history, previous, lines, bytes, repairedBytes };
}

/** A page ends before the answer gets larger than a client accepts. */
async function readSigned(path: string, network: CryptoNetwork, fromLine: number): Promise<SignedPage> {
  const file = await open(path, 'r');
  try {
    const records: SignedRecord[] = [];
    let [line, bytes] = [0, 0];
    for await (const { text, isWhole } of linesOf(file)) {
      if (!isWhole) break;
      line += 1;
      if (line <= fromLine) continue;
      const { decision } = JSON.parse(text.toString('utf8')) as Line;
      if (decision.decision !== 'signed' || decision.network !== network) continue;
      if (bytes > 0 && bytes + text.length > LIMITS.signerBodyBytesMax / 2)
        return { records, next: line - 1 };
      bytes += text.length;
      const { requestId: _, network: __, unsigned: ___, decision: ____, ...record } = decision;
      records.push(record);
    }
    return { records, next: null };
  } finally {
    await file.close();
  }
}

export async function openLog(path: string, key: Buffer): Promise<DecisionLog> {
  const file = await openFile(path);
  const held = await lock(path).catch(async (error: unknown) => {
    await file.close();
    throw error;
  });
  const close = async (): Promise<void> => {
    held.close();
    await file.close();
  };
  const loaded = await load(path, key, file).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const { history, repairedBytes } = loaded;
  let { previous, lines, bytes } = loaded;
  let failure: Error | undefined;

  async function write(decision: Decision): Promise<void> {
    const { size } = await file.stat();
    if (size !== bytes) throw new Error(`the log ${path} has ${size} bytes, the signer wrote ${bytes}`);
    const hash = hashOf(key, previous, decision);
    const line = Buffer.from(`${JSON.stringify({ previous, decision, hash } satisfies Line)}\n`);
    await file.appendFile(line);
    await file.datasync();
    [previous, lines, bytes] = [hash, lines + 1, bytes + line.length];
  }

  return {
    history,
    path,
    get lines() {
      return lines;
    },
    repairedBytes,
    signed: (network, fromLine) => readSigned(path, network, fromLine),
    async append(decision) {
      if (failure !== undefined) throw failure;
      try {
        await write(decision);
      } catch (error) {
        failure = new Error(`the log cannot be written: ${(error as Error).message}`);
        throw failure;
      }
      history.add(decision);
    },
    close,
  };
}
