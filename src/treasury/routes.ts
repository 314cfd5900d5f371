import type { Logger } from 'pino';
import type { Static } from 'typebox';
import type { Assets } from '../kernel/asset.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import { invalidField, notFound, Problem, unavailable } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { LIMITS } from '../limits.ts';
import { CancellationRefused, type RailTreasury, RefillRefused, type Wallet } from '../rails/treasury.ts';
import { type Alarm, alarmsOf, levelOf, stopAlarm } from './alarms.ts';
import { CANCEL_REQUEST, CANCELLED, REFILL, REFILL_REQUEST, TREASURY } from './examples.ts';
import { CancelledShape, CancelRequest, RefillRequest, RefillShape, TreasuryShape } from './schema.ts';

export type BankBalance = {
  readonly account: string;
  readonly asset: string;
  readonly atNs: Instant;
  readonly reference: string;
  readonly units: bigint;
  readonly ledgerUnits: bigint;
};

export type TreasuryDependencies = {
  readonly assets: Assets;
  /** Of rails with wallets of their own. */
  readonly treasuries: readonly RailTreasury[];
  /** The last balance that was reported for each account and asset. */
  readonly banks: () => Promise<readonly BankBalance[]>;
  readonly log: Pick<Logger, 'info'>;
};

const TAG = 'Operator';

export const signed = (assets: Assets, asset: string, units: bigint): string =>
  units < 0n ? `-${assets.format(asset, -units)}` : assets.format(asset, units);

function presentWallet(
  assets: Assets,
  wallet: Wallet,
): Static<typeof TreasuryShape>['networks'][0]['wallets'][0] {
  const { asset, coldUnits, height, hash, lowMarkUnits, highMarkUnits, differsSinceNs, gasPayments } = wallet;
  const amount = (units: bigint): string => signed(assets, asset, units);
  return {
    asset,
    on_chain: {
      hot: amount(wallet.hotUnits),
      deposit_addresses: amount(wallet.unsweptUnits),
      ...(coldUnits !== null && { cold: amount(coldUnits) }),
      height,
      hash,
      observed_at: formatInstant(wallet.observedAtNs),
    },
    ledger: {
      hot: amount(-wallet.clearingUnits),
      cold: amount(-wallet.coldLedgerUnits),
      network_fees: amount(-wallet.networkFeesUnits),
    },
    in_flight: {
      arriving: amount(wallet.arrivingUnits),
      leaving: amount(wallet.leavingUnits),
      fees_reserved: amount(wallet.reservedUnits),
    },
    difference: amount(wallet.differenceUnits),
    ...(differsSinceNs !== null && { differs_since: formatInstant(differsSinceNs) }),
    ...(lowMarkUnits !== undefined && { low_mark: amount(lowMarkUnits) }),
    ...(highMarkUnits !== undefined && { high_mark: amount(highMarkUnits) }),
    level: levelOf(wallet),
    ...(gasPayments !== null && { gas_payments: gasPayments }),
  };
}

export async function alarmsOn({ rail, wallets, stops }: RailTreasury, assets: Assets): Promise<Alarm[]> {
  const [held, stopped] = await Promise.all([wallets(), stops()]);
  const named = { rail, format: (asset: string, units: bigint) => signed(assets, asset, units) };
  return [
    ...held.flatMap((wallet) => alarmsOf(wallet, named)),
    ...stopped.map((stop) => stopAlarm(rail, stop)),
  ];
}

function readRoute({ assets, treasuries, banks }: TreasuryDependencies): Route {
  return route({
    method: 'GET',
    path: '/v2/operator/treasury',
    operationId: 'getTreasury',
    tag: TAG,
    summary: 'Get what is on chain, in the ledger and in flight',
    description:
      'By network and asset: the wallets as they were last observed at a final block, what the ledger says, what is in flight, and the difference; the last balances that banks reported; and alarms.',
    scope: 'operator:read',
    response: TreasuryShape,
    problems: [],
    answer: TREASURY,
    async handle() {
      const networks = await Promise.all(
        treasuries.map(async ({ rail: network, coldAddress, wallets }) => ({
          network,
          wallets: (await wallets()).map((wallet) => presentWallet(assets, wallet)),
          ...(coldAddress !== undefined && { cold_address: coldAddress }),
        })),
      );
      const alarms = await Promise.all(treasuries.map((one) => alarmsOn(one, assets)));
      const reported = (await banks()).map(({ account, asset, units, ledgerUnits, reference, atNs }) => ({
        account,
        asset,
        balance: signed(assets, asset, units),
        ledger_balance: signed(assets, asset, ledgerUnits),
        difference: signed(assets, asset, units - ledgerUnits),
        reference,
        at: formatInstant(atNs),
      }));
      return { body: { networks, banks: reported, alarms: alarms.flat() } };
    },
  });
}

function railOf(treasuries: readonly RailTreasury[], network: string): RailTreasury {
  const found = treasuries.find(({ rail }) => rail === network);
  if (found !== undefined) return found;
  const names = treasuries.map(({ rail }) => rail).join(', ');
  throw invalidField('/network', `must be one of ${names}`);
}

/** What nodes or the signer do not answer can be asked again. */
async function answered<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (error instanceof RefillRefused) throw invalidField('/amount', `cannot be paid: ${error.message}`);
    if (error instanceof CancellationRefused)
      throw new Problem('invalid-state', error.message, { status: error.code.toUpperCase() });
    throw unavailable(`No answer: ${(error as Error).message}. Nothing was changed; retry.`, 1);
  }
}

function refillRoute({ assets, treasuries }: TreasuryDependencies): Route {
  return route({
    method: 'POST',
    path: '/v2/operator/treasury/refills',
    operationId: 'createRefill',
    tag: TAG,
    summary: 'Make a transaction from the cold wallet to the hot one',
    description:
      'Without signatures: people who have the keys of the cold wallet sign and send it. Nothing is reserved or recorded. When the payment is final on chain, it is booked from `clearing:<rail>` to `cold:<rail>`, with its fee.',
    scope: 'operator:journal',
    body: RefillRequest,
    example: REFILL_REQUEST,
    response: RefillShape,
    problems: [],
    answer: REFILL,
    async handle({ body, rest }) {
      const { network, asset } = body;
      const treasury = railOf(treasuries, network);
      if (assets.find(asset)?.networks[network] === undefined)
        throw invalidField('/asset', `"${asset}" is not an asset on ${network}`);
      const parsed = assets.parse(asset, body.amount);
      if (!parsed.ok) throw invalidField('/amount', parsed.message);
      const signal = AbortSignal.timeout(LIMITS.railCallTimeoutMs);
      const file = await rest(answered(treasury.refill(asset, parsed.units, signal)));
      const amount = assets.format(asset, parsed.units);
      return { body: { network, asset, amount, cold_address: treasury.coldAddress!, ...file } };
    },
  });
}

function cancelRoute({ treasuries, log }: TreasuryDependencies): Route {
  return route({
    method: 'POST',
    path: '/v2/operator/treasury/cancellations',
    operationId: 'cancelPayment',
    tag: TAG,
    summary: 'Cancel a payment that the signer does not sign',
    description:
      'The signer first promises never to sign it; if it has signed something, nothing is changed and the chain decides. Then the withdrawal fails and its funds return; a nonce is used up by a transaction that pays nobody, and the lane goes on. It can be repeated.',
    scope: 'operator:journal',
    body: CancelRequest,
    example: CANCEL_REQUEST,
    response: CancelledShape,
    problems: ['not-found', 'invalid-state'],
    answer: CANCELLED,
    async handle({ caller, body, rest }) {
      const { network, transfer_id: transferId, assignment_id: assignmentId, reason } = body;
      const treasury = railOf(treasuries, network);
      if ((transferId === undefined) === (assignmentId === undefined))
        throw invalidField('/transfer_id', 'or assignment_id is required, and not both');
      const order = transferId === undefined ? { assignmentId: assignmentId! } : { transferId };
      const signal = AbortSignal.timeout(LIMITS.railCallTimeoutMs);
      const cancelling = treasury.cancel(order, signal).catch((error: unknown) => {
        if (error instanceof CancellationRefused && error.code === 'unknown')
          throw notFound(transferId === undefined ? 'assignment' : 'payment', (transferId ?? assignmentId)!);
        throw error;
      });
      const cancelled = await rest(answered(cancelling));
      log.info({ network, ...order, reason, actor: caller.clientId }, 'an operator has cancelled a payment');
      return {
        body: {
          network,
          ...(transferId !== undefined && { transfer_id: transferId }),
          ...(cancelled.assignmentId !== null && { assignment_id: cancelled.assignmentId }),
          ...(cancelled.cancellationId !== null && { cancellation_id: cancelled.cancellationId }),
        },
      };
    },
  });
}

/** Refills and cancellations exist where a chain is configured. */
export function treasuryRoutes(dependencies: TreasuryDependencies): Route[] {
  const always = [readRoute(dependencies)];
  return dependencies.treasuries.length === 0
    ? always
    : [...always, refillRoute(dependencies), cancelRoute(dependencies)];
}
