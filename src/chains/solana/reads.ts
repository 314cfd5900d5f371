import { LIMITS } from '../../limits.ts';
import type { Node } from './rpc.ts';

/** Reads of the chain's state that several parts need. */

export type Commitment = 'confirmed' | 'finalized';

export type Account = { readonly owner: string; readonly lamports: bigint; readonly data: Uint8Array };

/** State as of a slot of the chain. */
export type AsOf<Value> = { readonly slot: number; readonly value: Value };

type RawAccount = { owner: string; lamports: number | bigint; data: [string, 'base64'] };
type Context<Value> = { context: { slot: number }; value: Value };

const fromRaw = (raw: RawAccount | null): Account | undefined =>
  raw === null
    ? undefined
    : { owner: raw.owner, lamports: BigInt(raw.lamports), data: Buffer.from(raw.data[0], 'base64') };

/** In the order of the addresses; undefined where there is no account. The slot is that of the oldest answer. */
export async function readAccounts(
  node: Node,
  addresses: readonly string[],
  commitment: Commitment,
  signal: AbortSignal,
): Promise<AsOf<readonly (Account | undefined)[]>> {
  const accounts: (Account | undefined)[] = [];
  let slot = Number.MAX_SAFE_INTEGER;
  for (let at = 0; at < addresses.length; at += LIMITS.solanaAccountsPerCall) {
    const some = addresses.slice(at, at + LIMITS.solanaAccountsPerCall);
    const { context, value } = await node.call<Context<readonly (RawAccount | null)[]>>(
      'getMultipleAccounts',
      [some, { commitment, encoding: 'base64' }],
      signal,
    );
    if (value.length !== some.length) throw new Error(`${node.name} has not returned every account`);
    accounts.push(...value.map(fromRaw));
    slot = Math.min(slot, context.slot);
  }
  return { slot, value: accounts };
}

export async function readAccount(
  node: Node,
  address: string,
  commitment: Commitment,
  signal: AbortSignal,
): Promise<AsOf<Account | undefined>> {
  const { slot, value } = await readAccounts(node, [address], commitment, signal);
  return { slot, value: value[0] };
}

/** All token accounts of an owner that belong to one of the token programs. */
export async function readTokenAccounts(
  node: Node,
  owner: string,
  programId: string,
  signal: AbortSignal,
): Promise<readonly Account[]> {
  const { value } = await node.call<Context<readonly { account: RawAccount }[]>>(
    'getTokenAccountsByOwner',
    [owner, { programId }, { commitment: 'finalized', encoding: 'base64' }],
    signal,
  );
  return value.map(({ account }) => fromRaw(account)!);
}

/** The balance at which an account of that size is exempt from rent. */
export async function readRent(node: Node, bytes: number, signal: AbortSignal): Promise<bigint> {
  const units = await node.call<number | bigint>('getMinimumBalanceForRentExemption', [bytes], signal);
  return BigInt(units);
}

/** What recent blocks have asked for a compute unit, for transactions that write to these accounts. */
export async function readPrices(
  node: Node,
  writes: readonly string[],
  signal: AbortSignal,
): Promise<readonly bigint[]> {
  const recent = await node.call<readonly { prioritizationFee: number | bigint }[]>(
    'getRecentPrioritizationFees',
    [writes],
    signal,
  );
  return recent.map(({ prioritizationFee }) => BigInt(prioritizationFee));
}

export const readSlot = (node: Node, commitment: Commitment, signal: AbortSignal): Promise<number> =>
  node.call<number>('getSlot', [{ commitment }], signal);

export type Simulation = { readonly isGood: boolean; readonly computeBudget: number | undefined };

/** Runs the message against the present state, without signatures. */
export async function simulate(node: Node, message: Uint8Array, signal: AbortSignal): Promise<Simulation> {
  const unsigned = Buffer.concat([Uint8Array.of(message[0]!), Buffer.alloc(64 * message[0]!), message]);
  const { value } = await node.call<Context<{ err: unknown; unitsConsumed?: number }>>(
    'simulateTransaction',
    [unsigned.toString('base64'), { sigVerify: false, encoding: 'base64', commitment: 'confirmed' }],
    signal,
  );
  return { isGood: value.err === null, computeBudget: value.unitsConsumed };
}
