import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';

/** Reads messages of Solana without a version, and derives the addresses that programs own. */

export type Message = {
  readonly accounts: readonly string[];
  /** The first accounts, which must sign; the first of all pays the fee. */
  readonly signers: readonly string[];
  /** A recent blockhash, or the value of a durable nonce. */
  readonly lifetime: string;
  readonly instructions: readonly Instruction[];
};

export type Instruction = {
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Buffer;
};

/** Throws if the bytes are something else, or are written in more than one way. */
export function readMessage(bytes: Buffer): Message {
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('the bytes end too early');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const byte = (): number => take(1)[0]!;
  const length = (): number => {
    const low = byte();
    if (low < 0x80) return low;
    const high = byte();
    // More than 14 bits, or a length in more bytes than it needs.
    if (high >= 0x80 || high === 0) throw new Error('a length is too large');
    return (low & 0x7f) | (high << 7);
  };
  const many = <Value>(read: () => Value): Value[] => Array.from({ length: length() }, read);
  const signatures = byte();
  if (signatures >= 0x80) throw new Error('the message has a version');
  const readonlySigned = byte();
  byte();
  const accounts = many(() => base58.encode(take(32)));
  const lifetime = base58.encode(take(32));
  const account = (): string => {
    const found = accounts[byte()];
    if (found === undefined) throw new Error('an instruction names an account that is not there');
    return found;
  };
  const instructions = many(() => ({
    program: account(),
    accounts: many(account),
    data: take(length()),
  }));
  if (at !== bytes.length) throw new Error('bytes follow the message');
  const isPossible = signatures >= 1 && signatures <= accounts.length && readonlySigned < signatures;
  if (!isPossible || new Set(accounts).size < accounts.length) throw new Error('its accounts contradict');
  return { accounts, signers: accounts.slice(0, signatures), lifetime, instructions };
}

export const SYSTEM = '11111111111111111111111111111111';
const ASSOCIATED = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';

const sha256 = (parts: readonly Uint8Array[]): Buffer =>
  createHash('sha256').update(Buffer.concat(parts)).digest();

/** The account that a base address derives with a seed. */
export function withSeed(base: string, seed: string, owner = SYSTEM): string {
  return base58.encode(sha256([base58.decode(base), Buffer.from(seed), base58.decode(owner)]));
}

/** Of the curve of Ed25519: -x² + y² = 1 + d x² y². */
const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base % P];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

/** Whether the bytes are a point of the curve, and so may be somebody's public key. */
export function isOnCurve(bytes: Uint8Array): boolean {
  const little = Buffer.from(bytes).reverse();
  little[0]! &= 0x7f;
  const y = BigInt(`0x${little.toString('hex')}`);
  if (y >= P) return false;
  const square = (y * y) % P;
  // x² = u / v; v is never 0.
  const u = (square - 1n + P) % P;
  const x2 = (u * power((D * square + 1n) % P, P - 2n)) % P;
  if (x2 === 0n) return bytes[31]! < 0x80;
  return power(x2, (P - 1n) / 2n) === 1n;
}

/** The account that holds an owner's tokens of a mint by convention. */
export function associatedAccount(owner: string, mint: string, program: string): string {
  const seeds = [owner, program, mint].map((one) => base58.decode(one));
  for (let bump = 255; bump >= 0; bump -= 1) {
    const found = sha256([
      ...seeds,
      Uint8Array.of(bump),
      base58.decode(ASSOCIATED),
      Buffer.from('ProgramDerivedAddress'),
    ]);
    if (!isOnCurve(found)) return base58.encode(found);
  }
  throw new Error('no address for a token account');
}

export const PROGRAMS = {
  system: SYSTEM,
  associated: ASSOCIATED,
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  token2022: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  memo: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  computeBudget: 'ComputeBudget111111111111111111111111111111',
} as const;
