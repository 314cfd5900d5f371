import { type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { LIMITS } from '../limits.ts';
import { TokenError } from './token-request.ts';

/** Secrets as earlier releases stored them. Each is converted to a keyed hash when it is next used. */
const STORED =
  /^\$scrypt\$ln=([0-9]{1,2}),r=([0-9]{1,2}),p=([0-9]{1,2})\$([A-Za-z0-9_-]{16,})\$([A-Za-z0-9_-]{22,})$/;

export function isScryptHash(hash: string): boolean {
  return hash.startsWith('$scrypt$');
}

async function matches(secret: string, stored: string): Promise<boolean> {
  const parts = STORED.exec(stored);
  // The message does not repeat the text, which is the hash of a secret.
  if (parts === null) throw new Error('a stored secret hash is not in the form $scrypt$ln=,r=,p=$salt$hash');
  const expected = Buffer.from(parts[5]!, 'base64url');
  const [cost, blockSize, parallelization] = [2 ** Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const maxmem = 128 * blockSize * (cost + parallelization + 2);
  const options: ScryptOptions = { cost, blockSize, parallelization, maxmem };
  const actual = await new Promise<Buffer>((resolve, reject) => {
    scrypt(secret, Buffer.from(parts[4]!, 'base64url'), expected.length, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
  return timingSafeEqual(actual, expected);
}

export type ScryptChecker = {
  check(secret: string, stored: string, source: string): Promise<boolean>;
};

/**
 * A check takes 50 ms of one of Node's few worker threads, which the verification of tokens needs as well. So only some of
 * the threads are used, sources take turns, and a source that has enough checks waiting is refused: a flood of wrong secrets
 * delays another source by one check. Only clients whose secret is still in the old form come here at all.
 */
export function createScryptChecker(
  runningMax: number = LIMITS.scryptChecksMax,
  waitingMax: number = LIMITS.scryptChecksPerSourceMax,
): ScryptChecker {
  let running = 0;
  /** In the order of their turns. A source is here as long as a check of it waits. */
  const waiting = new Map<string, (() => void)[]>();

  async function enter(source: string): Promise<void> {
    if (running < runningMax) {
      running += 1;
      return;
    }
    const queue = waiting.get(source) ?? [];
    if (queue.length >= waitingMax) {
      const description = 'Too many token requests from this address are waiting. Retry in a moment.';
      throw new TokenError('temporarily_unavailable', description, 429, 1);
    }
    waiting.set(source, queue);
    // The check that ends hands its slot over.
    await new Promise<void>((resolve) => queue.push(resolve));
  }

  function leave(): void {
    const [first] = waiting;
    if (first === undefined) {
      running -= 1;
      return;
    }
    const [source, queue] = first;
    const next = queue.shift()!;
    waiting.delete(source);
    if (queue.length > 0) waiting.set(source, queue);
    next();
  }

  return {
    async check(secret, stored, source) {
      await enter(source);
      try {
        return await matches(secret, stored);
      } finally {
        leave();
      }
    },
  };
}
