import type { Instruction } from '@solana/kit';
import { LIMITS } from '../../limits.ts';
import type { Draft, LaneState, Outgoing, Plan, WaitCode } from '../driver.ts';
import {
  type Chain,
  findToken,
  type PaymentDetails,
  tokenAccountsOf,
  transfersOf,
  writeDetails,
} from './chain.ts';
import { computeLimit, LAMPORTS_PER_SIGNATURE, priorityLamports } from './fees.ts';
import {
  associatedAccount,
  type Content,
  compileMessage,
  nonceAddress,
  type Transfer,
  transferInstructions,
} from './message.ts';
import { isCreating, readPool } from './pool.ts';
import { readAccounts, readRent, simulate } from './reads.ts';
import type { Node } from './rpc.ts';
import { formatSlot, NONCE_ACCOUNT_BYTES } from './slot.ts';
import { readTokenAccount, TOKEN_PROGRAMS, tokenAccountBytes } from './tokens.ts';
import { wireBytes } from './wire.ts';

/**
 * The next transaction of a lane: the oldest payments that the wallet can pay and that fit, on a free nonce.
 *
 * A transaction is executed as a whole or not at all, so a payment that fails would fail its neighbours. Several payments are sent
 * together only if a simulation of them succeeds; otherwise the oldest goes alone, and the chain decides on it.
 */

export const wait = (code: WaitCode, reason: string): Plan => ({ kind: 'wait', code, reason });

type Funds = { readonly native: bigint; readonly tokens: ReadonlyMap<string, bigint> };

/** An account with less is removed by the network. */
const EMPTY_ACCOUNT_BYTES = 0;

export const feeOf = ({ settings }: Chain, payments: number): bigint =>
  LAMPORTS_PER_SIGNATURE +
  priorityLamports(LIMITS.solanaComputeUnitsPerPayment * Math.max(payments, 1), settings.priority.priceMax);

/** What the lane can spend: what is there at finality, less what open assignments spend. */
async function readFunds(chain: Chain, node: Node, state: LaneState, signal: AbortSignal): Promise<Funds> {
  const { settings } = chain;
  const tokens = await tokenAccountsOf(chain, state.lane, signal);
  const addresses = [state.lane, ...tokens.map(({ account }) => account)];
  const { value } = await readAccounts(node, addresses, 'finalized', signal);
  const [wallet, ...tokenAccounts] = value;
  const open = state.open.filter(({ purpose }) => purpose !== 'SWEEP');
  const spent = (asset: string): bigint =>
    open
      .flatMap(({ payments }) => payments)
      .filter((payment) => payment.asset === asset)
      .reduce((total, { units }) => total + units, 0n);
  const fees = state.open.reduce(
    (total, { payments, details }) => total + feeOf(chain, payments.length) + BigInt(details.rentUnits ?? 0),
    0n,
  );
  const kept = await readRent(node, EMPTY_ACCOUNT_BYTES, signal);
  return {
    native: (wallet?.lamports ?? 0n) - spent(settings.native) - fees - kept,
    tokens: new Map(
      tokens.map(({ asset }, place) => {
        const account = tokenAccounts[place];
        const held = (account && readTokenAccount(account.owner, account.data)?.units) ?? 0n;
        return [asset, held - spent(asset)];
      }),
    ),
  };
}

type Priced = {
  readonly payment: Outgoing;
  readonly creates: boolean;
  readonly direct: boolean;
  readonly rentUnits: bigint;
};

/**
 * How each payment reaches its recipient. The associated account is created only if it is missing now: a recipient who closes it
 * in between gets a failed payment, not our rent. An address that belongs to a token program is paid as it is; tokens at an
 * account derived from it would be lost.
 */
export async function pricePayments(
  chain: Chain,
  node: Node,
  payments: readonly Outgoing[],
  signal: AbortSignal,
): Promise<Priced[]> {
  const { settings, library, mints } = chain;
  const parts = await Promise.all(
    payments.map(async (payment) => {
      const token = findToken(settings, payment.asset);
      if (token === undefined) return { payment, mint: undefined, associated: payment.address };
      const mint = await mints.get(token.mint, signal);
      const { program } = mint;
      return {
        payment,
        mint,
        associated: await associatedAccount(library, payment.address, { mint: token.mint, program }),
      };
    }),
  );
  const addresses = parts.flatMap(({ payment, associated }) => [payment.address, associated]);
  const { value: accounts } = await readAccounts(node, addresses, 'confirmed', signal);
  return Promise.all(
    parts.map(async ({ payment, mint }, place): Promise<Priced> => {
      const [recipient, associated] = accounts.slice(place * 2, place * 2 + 2);
      const direct = mint !== undefined && TOKEN_PROGRAMS.includes(recipient?.owner ?? '');
      const creates = mint !== undefined && !direct && !TOKEN_PROGRAMS.includes(associated?.owner ?? '');
      if (!creates) return { payment, creates, direct, rentUnits: 0n };
      const rentUnits = await readRent(node, tokenAccountBytes(mint), signal);
      return { payment, creates, direct, rentUnits };
    }),
  );
}

const withoutRent = (payment: Outgoing): Priced => ({
  payment,
  creates: false,
  direct: false,
  rentUnits: 0n,
});

/** The oldest payments that the wallet can pay. A payment of one asset does not wait for another asset. */
export function affordable(chain: Chain, funds: Funds, priced: readonly Priced[]): Priced[] {
  const { settings } = chain;
  const left = new Map([...funds.tokens, [settings.native, funds.native]]);
  const chosen: Priced[] = [];
  for (const one of priced) {
    const { asset, units } = one.payment;
    const cost = feeOf(chain, 1) + one.rentUnits;
    const has = left.get(asset) ?? 0n;
    const coins = left.get(settings.native)!;
    if (has < units || coins < cost + (asset === settings.native ? units : 0n)) continue;
    left.set(asset, has - units);
    left.set(settings.native, left.get(settings.native)! - cost);
    chosen.push(one);
  }
  return chosen;
}

/** As many of the first transfers as fit into a transaction. */
export function fitting(
  chain: Chain,
  content: Content,
  transfers: readonly Transfer[],
): { readonly count: number; readonly message: Uint8Array } {
  const { library } = chain;
  const messageOf = (count: number): Uint8Array => {
    const instructions = transfers
      .slice(0, count)
      .flatMap((one): Instruction[] => transferInstructions(library, content.lane, one));
    return compileMessage(library, content, instructions);
  };
  let count = 1;
  let message = messageOf(1);
  while (count < transfers.length) {
    const larger = messageOf(count + 1);
    if (wireBytes(larger) > LIMITS.solanaTransactionBytesMax) break;
    count += 1;
    message = larger;
  }
  return { count, message };
}

const placesWhere = (chosen: readonly Priced[], holds: (one: Priced) => boolean): ReadonlySet<number> =>
  new Set(chosen.flatMap((one, place) => (holds(one) ? [place] : [])));

async function planPayments(
  chain: Chain,
  node: Node,
  place: { readonly lane: string; readonly index: number; readonly value: string; readonly seenAt: number },
  chosen: readonly Priced[],
  signal: AbortSignal,
): Promise<Draft> {
  const { lane, index, value, seenAt } = place;
  const content: Content = {
    lane,
    lifetime: { kind: 'nonce', account: await nonceAddress(chain.library, lane, index), value },
    computeBudget: LIMITS.solanaComputeUnitsMax,
    price: chain.settings.priority.priceMax,
  };
  const detailsOf = (some: readonly Priced[], computeBudget: number): PaymentDetails => ({
    seenAt,
    computeBudget,
    rentUnits: some.reduce((total, { rentUnits }) => total + rentUnits, 0n),
    creates: placesWhere(some, ({ creates }) => creates),
    direct: placesWhere(some, ({ direct }) => direct),
  });
  const draft = (some: readonly Priced[], computeBudget: number): Draft => ({
    purpose: 'PAYMENTS',
    slot: formatSlot({ index, value }),
    coins: [],
    payments: some.map(({ payment }) => payment),
    details: writeDetails(detailsOf(some, computeBudget)),
  });

  const transfers = await transfersOf(chain, { lane, ...draft(chosen, 0) }, detailsOf(chosen, 0), signal);
  const { count, message } = fitting(chain, content, transfers);
  const together = await simulate(node, message, signal);
  const max = LIMITS.solanaComputeUnitsMax;
  if (together.isGood && together.computeBudget !== undefined) {
    return draft(chosen.slice(0, count), computeLimit(together.computeBudget, max));
  }
  return draft(chosen.slice(0, 1), LIMITS.solanaComputeUnitsPerPayment);
}

/** Creates nonce accounts for a lane that has none free. */
async function planUpkeep(node: Node, missing: readonly number[], signal: AbortSignal): Promise<Draft> {
  const indexes = missing.slice(0, LIMITS.solanaNonceAccountsPerUpkeep);
  const rentUnits = await readRent(node, NONCE_ACCOUNT_BYTES, signal);
  return {
    purpose: 'UPKEEP',
    slot: null,
    coins: [],
    payments: [],
    details: {
      nonces: indexes.join(','),
      rentUnitsEach: String(rentUnits),
      rentUnits: String(rentUnits * BigInt(indexes.length)),
      computeBudget: String(LIMITS.solanaComputeUnitsBase * indexes.length),
    },
  };
}

/** For a lane without a free nonce. */
export async function planNonces(
  chain: Chain,
  node: Node,
  state: LaneState,
  missing: readonly number[],
  signal: AbortSignal,
): Promise<Plan> {
  if (isCreating(state)) return wait('busy', 'Nonce accounts are being created.');
  if (missing.length === 0) return wait('busy', 'Every nonce account of the lane is in use.');
  const draft = await planUpkeep(node, missing, signal);
  const cost = BigInt(draft.details.rentUnits!) + feeOf(chain, 0);
  const funds = await readFunds(chain, node, state, signal);
  if (funds.native < cost) return wait('low-funds', `The lane needs ${cost} lamports for nonce accounts.`);
  return { kind: 'assign', draft };
}

async function planOn(
  chain: Chain,
  node: Node,
  state: LaneState,
  waiting: readonly Outgoing[],
  signal: AbortSignal,
): Promise<Plan> {
  const { slot, value: pool } = await readPool(chain, node, state, signal);
  const [nonce] = pool.free;
  if (nonce === undefined) return planNonces(chain, node, state, pool.missing, signal);
  const funds = await readFunds(chain, node, state, signal);
  const max = Math.min(chain.settings.batchPaymentsMax, LIMITS.solanaPaymentsMax);
  // Payments that lack funds must not keep later ones of other assets out of the transaction.
  const payable = affordable(chain, funds, waiting.map(withoutRent)).slice(0, max);
  const priced = await pricePayments(
    chain,
    node,
    payable.map(({ payment }) => payment),
    signal,
  );
  const chosen = affordable(chain, funds, priced);
  if (chosen.length === 0) {
    const { asset, units } = waiting[0]!;
    return wait('low-funds', `The lane cannot pay ${units} units of ${asset} and the fee.`);
  }
  const place = { lane: state.lane, ...nonce, seenAt: slot };
  return { kind: 'assign', draft: await planPayments(chain, node, place, chosen, signal) };
}

export async function plan(
  chain: Chain,
  state: LaneState,
  waiting: readonly Outgoing[],
  signal: AbortSignal,
): Promise<Plan> {
  if (waiting.length === 0) return wait('busy', 'Nothing is waiting.');
  return chain.nodes.any((node) => planOn(chain, node, state, waiting, signal), signal);
}
