import { CRYPTO_TRANSFER_TYPES } from '../networks/crypto.ts';
import type { Networks } from '../networks/register.ts';
import { type RefusalCode, SignerRefusal } from './contract.ts';
import { DAY_MS, type History, HOUR_MS, MINUTE_MS } from './history.ts';
import type { EarlierAssignment, Intent, IntentPayment } from './intent.ts';
import type { NetworkPolicy, Policy } from './policy.ts';

/** Whether the signer may sign. Pure: everything that a decision depends on is given. Each rule throws a SignerRefusal. */

/** What the bytes pay, as decoded by the signer. */
export type Output = {
  readonly asset: string;
  readonly units: bigint;
  /** In the form in which the family compares destinations. */
  readonly to: string;
  /** Whether a key of the hot wallet controls it. */
  readonly isOwn: boolean;
};

export function refuse(code: RefusalCode, message: string): never {
  throw new SignerRefusal(code, message);
}

const same = (networks: Networks, { network }: Intent, a: string, b: string | null): boolean =>
  b !== null && networks.canonicalAddress(network, a) === networks.canonicalAddress(network, b);

/** Why a payment of the assignment must not be made, as a clause; undefined if it may. */
function paymentFault(networks: Networks, intent: Intent, payment: IntentPayment): string | undefined {
  const { asset, units, address } = payment;
  if (!payment.active) return 'is no longer active in this assignment';
  if (payment.status === null) return 'has no transfer';
  if (payment.type !== CRYPTO_TRANSFER_TYPES.withdrawal || payment.direction !== 'DEBIT')
    return `is a transfer of type ${payment.type}, not a crypto withdrawal`;
  if (payment.status !== 'PENDING') return `has a transfer that is ${payment.status}, not PENDING`;
  if (payment.transferAsset !== asset || payment.transferUnits !== units)
    return `is ${units} units of ${asset}, its transfer ${payment.transferUnits} units of ${payment.transferAsset}`;
  if (payment.cryptoNetwork !== intent.network) return `has a transfer on ${payment.cryptoNetwork}`;
  if (!same(networks, intent, address, payment.destinationAddress))
    return `goes to ${address}, its transfer to ${payment.destinationAddress}`;
  if (payment.rail !== intent.network || payment.railState !== 'ACCEPTED')
    return `is ${payment.railState ?? 'unknown'} on the rail ${payment.rail ?? intent.network}, not ACCEPTED`;
  if (payment.railAsset !== asset || payment.railUnits !== units)
    return `is ${units} units of ${asset}, the rail accepted ${payment.railUnits} units of ${payment.railAsset}`;
  return undefined;
}

/** The assignment itself: it must be open, and each of its payments must be that of a pending withdrawal. */
export function checkIntent(
  networks: Networks,
  intent: Intent,
  { assets, destinations }: NetworkPolicy,
): void {
  const { id, network, purpose, state, payments } = intent;
  if (state !== 'ASSIGNED') refuse('unknown-assignment', `Assignment ${id} is ${state}, not ASSIGNED.`);
  if (purpose === 'PAYMENTS' && payments.length === 0)
    refuse('other-payment', `Assignment ${id} has the purpose PAYMENTS and no payment.`);
  // A cancellation exists because its payments must not be made: their state does not matter.
  if (purpose === 'CANCELLATION') return;
  if (purpose !== 'PAYMENTS' && payments.length > 0)
    refuse('other-payment', `Assignment ${id} has the purpose ${purpose} and ${payments.length} payments.`);
  for (const payment of payments) {
    const fault = paymentFault(networks, intent, payment);
    if (fault !== undefined) refuse('other-payment', `Payment ${payment.key} ${fault}.`);
    if (!assets.has(payment.asset))
      refuse('not-allowed', `${payment.asset} is not an asset of this signer on ${network}.`);
    if (destinations !== undefined && !destinations.has(networks.canonicalAddress(network, payment.address)))
      refuse('not-allowed', `${payment.address} is not on the allow-list of ${network}.`);
  }
}

const shown = ({ units, asset, to }: Omit<Output, 'isOwn'>): string => `${units} units of ${asset} to ${to}`;

/** The payments in their order, and beside them only what returns to the hot wallet. */
function checkPayments(intent: Intent, outputs: readonly Output[], place: (address: string) => string): void {
  const due = intent.payments.map(({ asset, units, address }) => ({ asset, units, to: place(address) }));
  let next = 0;
  for (const output of outputs) {
    const wanted = due[next];
    const isPayment =
      wanted?.to === output.to && wanted.asset === output.asset && wanted.units === output.units;
    if (isPayment) next += 1;
    else if (!output.isOwn)
      refuse(
        'other-payment',
        wanted === undefined
          ? `The bytes pay ${shown(output)}, after all payments of the assignment.`
          : `The bytes pay ${shown(output)}, the assignment ${shown(wanted)}.`,
      );
  }
  if (next < due.length)
    refuse('other-payment', `The bytes make ${next} payments, the assignment has ${due.length}.`);
}

/** What the bytes pay must be what the assignment is for. */
export function checkOutputs(
  intent: Intent,
  outputs: readonly Output[],
  { coldAddress }: Pick<NetworkPolicy, 'coldAddress'>,
  place: (address: string) => string,
): void {
  if (intent.purpose === 'PAYMENTS') {
    checkPayments(intent, outputs, place);
    return;
  }
  const cold = intent.purpose === 'TO_COLD' && coldAddress !== undefined ? place(coldAddress) : undefined;
  const foreign = outputs.find(({ to, isOwn }) => !isOwn && to !== cold);
  if (foreign === undefined) return;
  refuse(
    'not-allowed',
    intent.purpose === 'TO_COLD'
      ? `The bytes pay ${shown(foreign)}: from the hot wallet to the cold one, only cold_address is allowed.`
      : `The bytes pay ${shown(foreign)}: the purpose ${intent.purpose} pays only the hot wallet itself.`,
  );
}

/**
 * A payment that was signed under another assignment is signed again only if the chain has proven that one dead. A database that
 * does not know all transactions that were signed for it cannot have looked for them on the chain.
 */
export function checkEarlier(
  key: string,
  earlierId: string,
  earlier: EarlierAssignment | undefined,
  signedHashes: readonly string[],
): void {
  const lost = earlier && signedHashes.find((hash) => !earlier.hashes.includes(hash));
  if (earlier?.state === 'SUPERSEDED' && !earlier.active && lost === undefined) return;
  const before = `Payment ${key} was signed under assignment ${earlierId}`;
  const advice =
    'it may have been restored from a backup. Run "ferry rails recover" before the payment is made again.';
  if (earlier === undefined)
    refuse('already-signed-elsewhere', `${before}, which the database does not know: ${advice}`);
  if (lost !== undefined)
    refuse('already-signed-elsewhere', `${before} as ${lost}, which the database does not know: ${advice}`);
  refuse('already-signed-elsewhere', `${before}, which is ${earlier.state}: it may still be executed.`);
}

/** The fee of this transaction, and all fees of the day. */
export function checkFees(
  { network, feeUnitsMax, feeUnitsPerDay }: NetworkPolicy,
  history: History,
  { assignmentId, feeUnits, nowMs }: { assignmentId: string; feeUnits: bigint; nowMs: number },
): void {
  if (feeUnits > feeUnitsMax)
    refuse(
      'fee-too-high',
      `The fee may reach ${feeUnits} units, fee_units_max of ${network} is ${feeUnitsMax}.`,
    );
  const before = history.feeOf(assignmentId);
  const more = feeUnits > before ? feeUnits - before : 0n;
  const total = history.fees(network, nowMs - DAY_MS) + more;
  if (more > 0n && total > feeUnitsPerDay)
    refuse(
      'over-velocity',
      `The fees of 24 hours would be ${total} units, fee_units_per_day of ${network} is ${feeUnitsPerDay}.`,
    );
}

/** Amounts per hour and per day, and payments per minute. A payment that was signed before counts once. */
export function checkVelocity({ limits }: Policy, history: History, intent: Intent, nowMs: number): void {
  const fresh = intent.payments.filter(({ key }) => history.assignmentOf(key) === undefined);
  if (intent.purpose !== 'PAYMENTS') return;
  for (const [asset, payments] of Map.groupBy(fresh, (payment) => payment.asset)) {
    const limit = limits.get(asset);
    if (limit === undefined) refuse('not-allowed', `The signer has no limits for ${asset}.`);
    const units = payments.reduce((sum, payment) => sum + payment.units, 0n);
    const count = history.paid(asset, nowMs - MINUTE_MS).count + payments.length;
    if (count > limit.paymentsPerMinute)
      refuse(
        'over-velocity',
        `${asset}: ${count} payments within a minute, payments_per_minute is ${limit.paymentsPerMinute}.`,
      );
    const hour = history.paid(asset, nowMs - HOUR_MS).units + units;
    if (hour > limit.unitsPerHour)
      refuse(
        'over-velocity',
        `${asset}: ${hour} units within an hour, units_per_hour is ${limit.unitsPerHour}.`,
      );
    const day = history.paid(asset, nowMs - DAY_MS).units + units;
    if (day > limit.unitsPerDay)
      refuse(
        'over-velocity',
        `${asset}: ${day} units within 24 hours, units_per_day is ${limit.unitsPerDay}.`,
      );
  }
}
