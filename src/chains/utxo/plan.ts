import { UTXO_LIMITS } from '../../limits-utxo.ts';
import type { BlockId, Coin, Draft, LaneState, Outgoing, Plan, WaitCode } from '../driver.ts';
import type { Account } from './account.ts';
import type { Chain } from './chain.ts';
import { feeAt, smaller } from './fees.ts';
import { ancestorsOf, type Unconfirmed } from './mempool.ts';
import { isTransient, messageOf, type Nodes, NodesDisagree, type View } from './nodes.ts';
import {
  amountOf,
  byValue,
  type Funds,
  paymentFault,
  selectBatch,
  selectChangeOnly,
  selectConsolidation,
  sumOf,
} from './select.ts';
import type { UtxoSettings } from './settings.ts';
import { outpoint } from './transaction.ts';
import { ancestorsFee, writeDetails } from './versions.ts';

/** Which waiting payments become the next transaction, and from which coins. */

export type Planner = {
  readonly settings: UtxoSettings;
  readonly chain: Chain;
  readonly account: Account;
  readonly nodes: Nodes;
  estimate(view: View, signal: AbortSignal): Promise<bigint>;
};

/** A later version can pay this many times the rate of the first one before the change is used up. */
const ROOM = 3n;

const wait = (code: WaitCode, reason: string): Plan => ({ kind: 'wait', code, reason });

/** The change of our own payments; everything else came from somebody who may have it undone. */
export const isChange = (coin: Coin): boolean => coin.path.startsWith('1/');

function depthOf({ height }: Coin, head: number): number {
  return height === null ? 0 : head - height + 1;
}

function fundsAt({ settings, chain, account }: Planner, coins: readonly Coin[], rate: bigint): Funds {
  const { maxRate } = settings.fees;
  const room = chain.hasReplacement ? rate * ROOM : rate;
  return {
    chain,
    coins,
    rate,
    roomRate: smaller(room, maxRate),
    changeScript: account.change.script,
  };
}

function unionOf(lists: readonly (readonly Unconfirmed[])[]): Unconfirmed[] {
  return [...new Map(lists.flat().map((one) => [one.hash, one])).values()];
}

const totalsOf = (ancestors: readonly Unconfirmed[]) => ({
  ancestorsSize: ancestors.reduce((sum, { size }) => sum + size, 0n),
  ancestorsFeeUnits: ancestors.reduce((sum, { feeUnits }) => sum + feeUnits, 0n),
});

type Known = ReadonlyMap<string, readonly Unconfirmed[]>;

const ancestorsIn = (known: Known, coins: readonly Coin[]): Unconfirmed[] =>
  unionOf(coins.map((coin) => known.get(outpoint(coin)) ?? []));

/** Unconfirmed change that may be spent: together it depends on few transactions, all of them ours. */
async function unconfirmedCoins(planner: Planner, view: View, lane: LaneState, signal: AbortSignal) {
  const known = new Map<string, readonly Unconfirmed[]>();
  const candidates = lane.coins.filter((coin) => coin.height === null && isChange(coin)).toSorted(byValue);
  for (const coin of candidates.slice(0, UTXO_LIMITS.unconfirmedMax)) {
    const ancestors = await ancestorsOf(planner.nodes, view, lane, coin, signal);
    if (ancestors === undefined) continue;
    if (unionOf([...known.values(), ancestors]).length <= UTXO_LIMITS.unconfirmedMax)
      known.set(outpoint(coin), ancestors);
  }
  return { known, coins: candidates.filter((coin) => known.has(outpoint(coin))) };
}

function draftOf(
  { account }: Planner,
  head: BlockId,
  parts: Pick<Draft, 'purpose' | 'coins' | 'payments'>,
  ancestors: readonly Unconfirmed[],
): Plan {
  const details = writeDetails({
    changePath: account.change.path,
    changeAddress: account.change.address,
    fromHeight: head.height,
    fromHash: head.hash,
    ancestors: ancestors.map(({ hash, coin }) => ({ hash, coin })),
    ...totalsOf(ancestors),
    replacedFeeUnits: 0n,
  });
  return { kind: 'assign', draft: { ...parts, slot: null, details } };
}

function shortage(
  chain: Chain,
  lane: LaneState,
  usable: readonly Coin[],
  possible: readonly Outgoing[],
): Plan {
  const smallest = possible.reduce((least, one) => (one.units < least.units ? one : least));
  const has = `${amountOf(chain, sumOf(usable))} in ${usable.length} coins can be spent now`;
  const reason = `the smallest waiting payment is ${amountOf(chain, smallest.units)}, ${has}`;
  return sumOf(lane.coins) > smallest.units
    ? wait('busy', `${reason}; the other coins wait for confirmations`)
    : wait('low-funds', reason);
}

/** What a plan starts from: the nodes, the newest block, which is scanned, and what they ask for. */
type Moment = {
  readonly view: View;
  readonly head: BlockId;
  readonly lane: LaneState;
  readonly rate: bigint;
};

async function planPayments(
  planner: Planner,
  { view, head, lane, rate }: Moment,
  waiting: readonly Outgoing[],
  signal: AbortSignal,
): Promise<Plan> {
  const { chain, settings } = planner;
  const possible = waiting.filter((payment) => paymentFault(chain, payment) === undefined);
  if (possible.length === 0)
    return wait('busy', `no waiting payment can be made: the first ${paymentFault(chain, waiting[0]!)}`);
  const isConfirmed = (coin: Coin): boolean =>
    depthOf(coin, view.height) >= (isChange(coin) ? 1 : settings.confirmations);
  const confirmed = lane.coins.filter(isConfirmed).toSorted(byValue);
  const first = selectBatch(fundsAt(planner, confirmed, rate), possible);
  const wanted = Math.min(possible.length, UTXO_LIMITS.paymentsMax);
  if (first?.payments.length === wanted)
    return draftOf(planner, head, { purpose: 'PAYMENTS', coins: first.coins, payments: first.payments }, []);
  const { known, coins } = await unconfirmedCoins(planner, view, lane, signal);
  const funds = fundsAt(planner, [...confirmed, ...coins], rate);
  const lifting = (chosen: readonly Coin[], at: bigint): bigint =>
    ancestorsFee(totalsOf(ancestorsIn(known, chosen)), at);
  const second = selectBatch({ ...funds, ancestorsFee: lifting }, possible);
  if (second === undefined) return shortage(chain, lane, funds.coins, possible);
  const parts = { purpose: 'PAYMENTS', coins: second.coins, payments: second.payments } as const;
  return draftOf(planner, head, parts, ancestorsIn(known, second.coins));
}

/**
 * Where nodes do not replace transactions, one that pays too little by now is lifted by another one, which spends its change
 * and pays for both.
 */
async function planLift(
  planner: Planner,
  view: View,
  lane: LaneState,
  rate: bigint,
  signal: AbortSignal,
): Promise<(Pick<Draft, 'coins'> & { readonly ancestors: readonly Unconfirmed[] }) | undefined> {
  if (planner.chain.hasReplacement) return undefined;
  const { known, coins } = await unconfirmedCoins(planner, view, lane, signal);
  for (const coin of coins) {
    const ancestors = ancestorsIn(known, [coin]);
    const { ancestorsSize, ancestorsFeeUnits } = totalsOf(ancestors);
    // Worth it only if it pays much less than what is asked for.
    if (feeAt(rate, ancestorsSize) < ancestorsFeeUnits * 2n) continue;
    const lifting = (_: readonly Coin[], at: bigint): bigint => ancestorsFee(totalsOf(ancestors), at);
    const found = selectChangeOnly({ ...fundsAt(planner, [coin], rate), ancestorsFee: lifting });
    if (found !== undefined) return { coins: found.coins, ancestors };
  }
  return undefined;
}

async function planUpkeep(
  planner: Planner,
  { view, head, lane, rate }: Moment,
  signal: AbortSignal,
): Promise<Plan> {
  const { settings } = planner;
  const idle = wait('busy', 'no payment is waiting');
  const lift = await planLift(planner, view, lane, rate, signal);
  const isUnderWay = lane.open.some(({ purpose }) => purpose === 'UPKEEP');
  const isCheap = !isUnderWay && rate <= settings.fees.consolidationRate;
  const old = lane.coins.filter((coin) => depthOf(coin, view.height) >= settings.confirmations);
  const coins =
    lift?.coins ?? (isCheap ? selectConsolidation(fundsAt(planner, old, rate))?.coins : undefined);
  if (coins === undefined) return idle;
  return draftOf(planner, head, { purpose: 'UPKEEP', coins, payments: [] }, lift?.ancestors ?? []);
}

export async function plan(
  planner: Planner,
  lane: LaneState,
  waiting: readonly Outgoing[],
  signal: AbortSignal,
): Promise<Plan> {
  const { settings, nodes } = planner;
  try {
    const view = await nodes.view(signal);
    const head = { height: view.height, hash: await nodes.agreedHash(view, view.height, signal) };
    const { scanned } = lane;
    // A block that is not scanned yet may have spent any of the coins.
    if (scanned?.height !== head.height || scanned.hash !== head.hash)
      return wait('busy', `block ${head.height} is not scanned yet`);
    const rate = await planner.estimate(view, signal);
    const { maxRate } = settings.fees;
    if (rate > maxRate)
      return wait('fee-too-high', `nodes ask for ${rate} units per 1,000 vbytes, the bound is ${maxRate}`);
    if (waiting.length === 0) return await planUpkeep(planner, { view, head, lane, rate }, signal);
    return await planPayments(planner, { view, head, lane, rate }, waiting, signal);
  } catch (error) {
    if (error instanceof NodesDisagree) return wait('nodes-disagree', messageOf(error));
    if (isTransient(error)) return wait('node-behind', messageOf(error));
    throw error;
  }
}
