import { LIMITS } from '../../limits.ts';
import type { Draft, LaneState, Plan } from '../driver.ts';
import { type Chain, tokenAccountsOf, transfersOf, writeDetails } from './chain.ts';
import { computeLimit, LAMPORTS_PER_SIGNATURE } from './fees.ts';
import { type Content, nonceAddress } from './message.ts';
import { fitting, planNonces, pricePayments, wait } from './plan.ts';
import { readPool } from './pool.ts';
import { readAccounts, simulate } from './reads.ts';
import type { Node } from './rpc.ts';
import { formatSlot } from './slot.ts';
import { readTokenAccount } from './tokens.ts';

/**
 * From deposit addresses to the lane: everything that they hold of configured assets. The lane pays the fee, so a deposit address
 * never needs coins of its own. Each deposit address signs for what it gives.
 */

type Held = { readonly source: string; readonly asset: string; readonly units: bigint };

async function readHeld(
  chain: Chain,
  node: Node,
  sources: readonly string[],
  signal: AbortSignal,
): Promise<Held[]> {
  const { settings } = chain;
  const all = sources.map(async (source) => [
    { source, asset: settings.native, account: source },
    ...(await tokenAccountsOf(chain, source, signal)).map((one) => ({ source, ...one })),
  ]);
  const places = (await Promise.all(all)).flat();
  const { value } = await readAccounts(
    node,
    places.map(({ account }) => account),
    'finalized',
    signal,
  );
  return places.flatMap(({ source, asset }, index): Held[] => {
    const account = value[index];
    if (account === undefined) return [];
    const isNative = asset === settings.native;
    const units = isNative ? account.lamports : (readTokenAccount(account.owner, account.data)?.units ?? 0n);
    // Coins that cost more to sweep than they are worth stay.
    return units > (isNative ? LAMPORTS_PER_SIGNATURE : 0n) ? [{ source, asset, units }] : [];
  });
}

async function sweepOn(
  chain: Chain,
  node: Node,
  state: LaneState,
  sources: readonly string[],
  signal: AbortSignal,
): Promise<Plan> {
  const { lane } = state;
  const { slot: seenAt, value: pool } = await readPool(chain, node, state, signal);
  const [nonce] = pool.free;
  if (nonce === undefined) return planNonces(chain, node, state, pool.missing, signal);
  const held = (await readHeld(chain, node, sources, signal)).slice(0, LIMITS.solanaPaymentsMax);
  if (held.length === 0) return wait('busy', 'The addresses hold nothing to sweep.');
  const payments = held.map(({ asset, units }) => ({ key: '', asset, units, address: lane }));
  // The lane's own token accounts are created by the first payment that needs them.
  const priced = await pricePayments(chain, node, payments, signal);
  const creates = new Set<number>();
  const seen = new Set<string>();
  for (const [place, { payment, creates: isMissing }] of priced.entries()) {
    if (isMissing && !seen.has(payment.asset)) creates.add(place);
    seen.add(payment.asset);
  }
  const draftOf = (count: number, computeBudget: number): Draft => {
    const places = [...creates].filter((place) => place < count);
    const rentUnits = places.reduce((total, place) => total + priced[place]!.rentUnits, 0n);
    const details = { seenAt, computeBudget, rentUnits, creates: new Set(places), direct: new Set<number>() };
    const named = held.slice(0, count).map(({ source }) => source);
    return {
      purpose: 'SWEEP',
      slot: formatSlot(nonce),
      coins: [],
      payments: payments.slice(0, count),
      details: { ...writeDetails(details), sources: named.join(',') },
    };
  };
  const content: Content = {
    lane,
    lifetime: {
      kind: 'nonce',
      account: await nonceAddress(chain.library, lane, nonce.index),
      value: nonce.value,
    },
    computeBudget: LIMITS.solanaComputeUnitsMax,
    price: chain.settings.priority.priceMax,
  };
  const whole = { lane, ...draftOf(held.length, 0) };
  const transfers = await transfersOf(chain, whole, { creates, direct: new Set() }, signal);
  const { count, message } = fitting(chain, content, transfers);
  const { isGood, computeBudget } = await simulate(node, message, signal);
  if (!isGood || computeBudget === undefined) throw new Error('the simulation of the sweep fails');
  return { kind: 'assign', draft: draftOf(count, computeLimit(computeBudget, LIMITS.solanaComputeUnitsMax)) };
}

export const sweep = (
  chain: Chain,
  state: LaneState,
  sources: readonly string[],
  signal: AbortSignal,
): Promise<Plan> => chain.nodes.any((node) => sweepOn(chain, node, state, sources, signal), signal);
