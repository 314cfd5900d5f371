import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { unavailable } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';

/**
 * Credentials of clients. A prefix says what a string is when it turns up in a log or a repository, and lets
 * scanners find it. Ids and secrets use only characters that mean themselves in a URL, a form and a Basic header.
 */
export function newClientId(): string {
  return `ferry_${randomBytes(12).toString('hex')}`;
}

export function newClientSecret(): string {
  return `ferry_secret_${randomBytes(32).toString('base64url')}`;
}

/** What cannot be an id need not be looked for. */
export function isClientId(text: string): boolean {
  return text.length <= LIMITS.clientIdLengthMax && /^[\x21-\x7e]+$/.test(text);
}

/** 2^14: 54 ms and 16 MiB on a 2-core server, 2^15 takes 110 ms. The secrets have 256 bits: none is guessable. */
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

/** As others write it: `$scrypt$ln=14,r=8,p=1$<salt>$<hash>`. Stronger parameters can come without a migration. */
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
  // The text is not repeated: it is a secret's hash.
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

/** What an unknown client is held against: nothing derives to random bytes, and finding that out costs the same. */
const NOBODY = format(
  { costLog2: COST_LOG2, blockSize: BLOCK_SIZE, parallelism: PARALLELISM },
  randomBytes(SALT_BYTES),
  randomBytes(HASH_BYTES),
);

export type SecretChecker = {
  /** `stored` is undefined for an unknown client: false, at the price of a real check. */
  check(secret: string, stored: string | undefined): Promise<boolean>;
};

/**
 * Checks run on the runtime's few threads, which verification of tokens uses too. A flood of token requests gets
 * some of them and a short queue; whoever comes later gets a 503 at once.
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
    if (waiting.length >= waitingMax) throw unavailable('Too many token requests are waiting; try again.');
    // The place is handed over by whoever leaves.
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
