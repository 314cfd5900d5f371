import { base58 } from '@scure/base';
import { LIMITS } from '../../limits.ts';
import type { Assignment } from '../driver.ts';
import { sourcesOf } from './chain.ts';
import type { Node } from './rpc.ts';

/** Transactions as nodes return them, and what can be read from them. */

/** Transactions with a newer version are refused by nodes unless this is asked for; a block with one could not be read. */
export const TRANSACTION_VERSION_MAX = 1;

type Amount = number | bigint;

export type RawTransaction = {
  readonly slot: number;
  readonly meta: {
    readonly err: unknown;
    readonly fee: Amount;
    readonly preBalances: readonly Amount[];
    readonly postBalances: readonly Amount[];
  } | null;
  readonly transaction: {
    readonly message: {
      readonly accountKeys: readonly string[];
      readonly recentBlockhash: string;
      readonly instructions: readonly {
        readonly programIdIndex: number;
        readonly accounts: readonly number[];
        readonly data: string;
      }[];
    };
  };
};

export type SignatureStatus = {
  readonly slot: number;
  /** Null once it is final. */
  readonly confirmations: number | null;
  readonly err: unknown;
  readonly confirmationStatus: 'processed' | 'confirmed' | 'finalized' | null;
};

export async function readStatuses(
  node: Node,
  hashes: readonly string[],
  signal: AbortSignal,
): Promise<readonly (SignatureStatus | null)[]> {
  if (hashes.length === 0) return [];
  const params = [hashes, { searchTransactionHistory: true }];
  const { value } = await node.call<{ value: readonly (SignatureStatus | null)[] }>(
    'getSignatureStatuses',
    params,
    signal,
  );
  return value;
}

export const readTransaction = (
  node: Node,
  hash: string,
  signal: AbortSignal,
): Promise<RawTransaction | null> =>
  node.call<RawTransaction | null>(
    'getTransaction',
    [
      hash,
      { commitment: 'finalized', encoding: 'json', maxSupportedTransactionVersion: TRANSACTION_VERSION_MAX },
    ],
    signal,
  );

export type Signature = {
  readonly signature: string;
  readonly slot: number;
  readonly err: unknown;
  /** All memos, as `[length] text; [length] text`. */
  readonly memo: string | null;
  readonly confirmationStatus: SignatureStatus['confirmationStatus'];
};

/** Final transactions that name the address, newest first, until one of that slot or before. */
export async function readSignatures(
  node: Node,
  address: string,
  untilSlot: number,
  signal: AbortSignal,
): Promise<{ readonly found: readonly Signature[]; readonly isComplete: boolean }> {
  const found: Signature[] = [];
  for (let page = 0; page < LIMITS.solanaSignaturePagesMax; page += 1) {
    const before = found.at(-1)?.signature;
    const limit = LIMITS.solanaSignaturesPerCall;
    const options = { commitment: 'finalized', limit, ...(before !== undefined && { before }) };
    const some = await node.call<readonly Signature[]>('getSignaturesForAddress', [address, options], signal);
    found.push(...some);
    if (some.some(({ slot }) => slot <= untilSlot)) return { found, isComplete: true };
    if (some.length < limit) break;
  }
  return { found, isComplete: false };
}

const SYSTEM_PROGRAM = '11111111111111111111111111111111';
/** Instructions of the System program that end the value of a nonce: advance it, or withdraw the account. */
const ENDING_A_NONCE = [4, 5];

/**
 * Whether the transaction has ended that value of the nonce: as its lifetime, which it also does if it failed, or by an instruction
 * that succeeded.
 */
export function usesNonce({ meta, transaction }: RawTransaction, account: string, value: string): boolean {
  const { accountKeys, recentBlockhash, instructions } = transaction.message;
  if (recentBlockhash === value) return true;
  if (meta === null || meta.err !== null) return false;
  return instructions.some(({ programIdIndex, accounts, data }) => {
    const isSystem = accountKeys[programIdIndex] === SYSTEM_PROGRAM && accountKeys[accounts[0]!] === account;
    return isSystem && ENDING_A_NONCE.includes(base58.decode(data)[0]!);
  });
}

/**
 * What the network took from our addresses: everything that left them and was not paid to a recipient. That is the fee, and the rent
 * of accounts that the transaction created.
 */
export function networkCost(
  { meta, transaction }: RawTransaction,
  assignment: Pick<Assignment, 'purpose' | 'lane' | 'payments' | 'details'>,
  native: string,
): bigint {
  const { preBalances, postBalances, err } = meta!;
  const ours = new Set([assignment.lane, ...sourcesOf(assignment)]);
  const left = transaction.message.accountKeys.reduce(
    (total, key, index) =>
      ours.has(key) ? total + BigInt(preBalances[index]!) - BigInt(postBalances[index]!) : total,
    0n,
  );
  if (err !== null) return left;
  const paid = assignment.payments.filter(({ asset, address }) => asset === native && !ours.has(address));
  return paid.reduce((total, { units }) => total - units, left);
}

const REASONS: Readonly<Record<string, string>> = {
  'Custom:1': 'the wallet did not have enough of the asset',
  'Custom:3': 'the address belongs to another token',
  'Custom:17': 'the token account of the recipient is frozen',
  InvalidAccountData: 'the address cannot receive this asset',
  IncorrectProgramId: 'the address cannot receive this asset',
};

/** For customers: why the network has executed a transaction without effect. */
export function failureReason(err: unknown): string {
  const because = ((): string => {
    if (typeof err === 'string') return err;
    const [name, detail] = Object.entries(err as Record<string, unknown>)[0] ?? ['unknown', undefined];
    if (name === 'InsufficientFundsForRent') return 'the amount is less than the address must hold';
    if (name !== 'InstructionError' || !Array.isArray(detail)) return name;
    const cause: unknown = detail[1];
    const key = typeof cause === 'string' ? cause : Object.entries(cause as object)[0]!.join(':');
    return REASONS[key] ?? key;
  })();
  return `The network rejected the payment: ${because}.`;
}
