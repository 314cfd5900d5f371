import { LIMITS } from '../../limits.ts';
import type { LaneState } from '../driver.ts';
import type { Chain } from './chain.ts';
import { nonceAddress } from './message.ts';
import { type AsOf, readAccounts } from './reads.ts';
import type { Node } from './rpc.ts';
import { formatSlot, parseSlot, readNonceAccount } from './slot.ts';

/**
 * The durable nonce accounts of a lane. Their addresses follow from the lane's address and a number, so no table lists them: what
 * exists is read from the chain.
 */
export type NoncePool = {
  /** Not used by an open assignment. */
  readonly free: readonly { readonly index: number; readonly value: string }[];
  /** Numbers at which an account can be created. */
  readonly missing: readonly number[];
};

/** Whether an open assignment creates nonce accounts. */
export const isCreating = (state: LaneState): boolean =>
  state.open.some(({ purpose }) => purpose === 'UPKEEP');

export async function readPool(
  chain: Chain,
  node: Node,
  state: LaneState,
  signal: AbortSignal,
): Promise<AsOf<NoncePool>> {
  const { library, settings, used, newest } = chain;
  const count = settings.nonceAccounts + LIMITS.solanaNonceAccountsSkippedMax;
  const indexes = Array.from({ length: count }, (_, index) => index);
  const addresses = await Promise.all(indexes.map((index) => nonceAddress(library, state.lane, index)));
  const { slot, value: accounts } = await readAccounts(node, addresses, 'finalized', signal);
  newest.check(node.name, slot);
  const taken = new Set(state.open.flatMap((one) => (one.slot === null ? [] : parseSlot(one.slot).index)));

  const usable: { index: number; value: string }[] = [];
  const missing: number[] = [];
  for (const index of indexes) {
    if (usable.length + missing.length === settings.nonceAccounts) break;
    const account = accounts[index];
    if (account === undefined) {
      missing.push(index);
      continue;
    }
    // Coins that a stranger has sent to the address, or an account that was given to another authority: never ours to use.
    const nonce = readNonceAccount(account.data);
    if (nonce?.authority === state.lane) usable.push({ index, value: nonce.value });
  }
  const isFree = (one: (typeof usable)[number]): boolean =>
    !taken.has(one.index) && !used.has(formatSlot(one));
  return { slot, value: { free: usable.filter(isFree), missing } };
}
