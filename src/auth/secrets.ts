import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { unavailable } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';

/**
 * Credentials of clients. The prefix tells what the string is if it turns up in a log or a repository, and lets secret
 * scanners find it. Ids and secrets need no escaping in a URL, a form or a Basic header.
 */
export function newClientId(): string {
  return `ferry_${randomBytes(12).toString('hex')}`;
}

export function newClientSecret(): string {
  return `ferry_secret_${randomBytes(32).toString('base64url')}`;
}

/** A text that cannot be an id is not looked up. */
export function isClientId(text: string): boolean {
  return text.length <= LIMITS.clientIdLengthMax && /^[\x21-\x7e]+$/.test(text);
}

/** 2^14: 54 ms and 16 MiB on a 2-core server, 2^15 takes 110 ms. Secrets have 256 random bits and cannot be guessed. */
const COST_LOG2 = 14;
const BLOCK_SIZE = 8;
const PARALLELISM = 1;
const HASH_BYTES = 32;
const SALT_BYTES = 16;

type Parameters = { costLog2: number; blockSize: number; parallelism: number };

function derive(secret: string, salt: Buffer, bytes: number, parameters: Parameters): Promise<Buffer> {
  const cost = 2 ** parameters.costLog2;
  const options: ScryptOptions = {
    cost,
    blockSize: parameters.blockSize,
    parallelization: parameters.parallelism,
    maxmem: 128 * parameters.blockSize * (cost + parameters.parallelism + 2),
  };
  return new Promise((resolve, reject) => {
    scrypt(secret, salt, bytes, options, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

/** In the common format `$scrypt$ln=14,r=8,p=1$<salt>$<hash>`, so that the parameters can change without a migration. */
export async function hashSecret(secret: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const parameters = { costLog2: COST_LOG2, blockSize: BLOCK_SIZE, parallelism: PARALLELISM };
  const hash = await derive(secret, salt, HASH_BYTES, parameters);
  return format(parameters, salt, hash);
}

function format({ costLog2, blockSize, parallelism }: Parameters, salt: Buffer, hash: Buffer): string {
  return `$scrypt$ln=${costLog2},r=${blockSize},p=${parallelism}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

const STORED =
  /^\$scrypt\$ln=([0-9]{1,2}),r=([0-9]{1,2}),p=([0-9]{1,2})\$([A-Za-z0-9_-]{16,})\$([A-Za-z0-9_-]{22,})$/;

async function matches(secret: string, stored: string): Promise<boolean> {
  const parts = STORED.exec(stored);
  // The message does not repeat the text, which is the hash of a secret.
  if (parts === null) throw new Error('a stored secret hash is not in the form $scrypt$ln=,r=,p=$salt$hash');
  const expected = Buffer.from(parts[5]!, 'base64url');
  const parameters = {
    costLog2: Number(parts[1]),
    blockSize: Number(parts[2]),
    parallelism: Number(parts[3]),
  };
  const actual = await derive(secret, Buffer.from(parts[4]!, 'base64url'), expected.length, parameters);
  return timingSafeEqual(actual, expected);
}

/** Compared with the secret of an unknown client: never equal, and as slow as a real check. */
const NOBODY = format(
  { costLog2: COST_LOG2, blockSize: BLOCK_SIZE, parallelism: PARALLELISM },
  randomBytes(SALT_BYTES),
  randomBytes(HASH_BYTES),
);

export type SecretChecker = {
  /** For an unknown client, `stored` is undefined: false, after as long as a real check takes. */
  check(secret: string, stored: string | undefined): Promise<boolean>;
};

/**
 * Checks run on Node's few worker threads, which the verification of tokens needs as well. Token requests get some of
 * the threads and a short queue; beyond that they are answered with 503 at once.
 */
export function createSecretChecker(
  runningMax: number = LIMITS.secretChecksMax,
  waitingMax: number = LIMITS.secretChecksWaitingMax,
): SecretChecker {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function enter(): Promise<void> {
    if (running < runningMax) {
      running += 1;
      return;
    }
    if (waiting.length >= waitingMax)
      throw unavailable('Too many token requests are waiting. Retry in a moment.');
    // The check that ends hands its slot over.
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }

  return {
    async check(secret, stored) {
      await enter();
      try {
        return await matches(secret, stored ?? NOBODY);
      } finally {
        leave();
      }
    },
  };
}
