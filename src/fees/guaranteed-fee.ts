import type { Static } from 'typebox';
import { actorOf } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import { createFields } from '../kernel/fields.ts';
import { newId } from '../kernel/id.ts';
import { formatInstant, type Instant, NS_PER_MS } from '../kernel/instant.ts';
import { invalidField, invalidRequest, notFound, Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, refuse, type Table, write } from '../ledger/command.ts';
import { LIMITS } from '../limits.ts';
import type { Networks } from '../networks/register.ts';
import { chargeOf, readGiven } from './charge.ts';
import { type Destination, readDestination } from './destination.ts';
import type { FeeSchedule } from './schedule.ts';
import type { guaranteedFeeRequest } from './schema.ts';

/** Fixes the fee of one withdrawal: to that destination, of at most that amount, until `expiresAtNs`. */
export type GuaranteedFee = {
  readonly id: string;
  readonly customerId: string;
  readonly asset: string;
  readonly cryptoNetwork: string;
  readonly destinationAddress: string;
  readonly amountUnits: bigint;
  readonly feeUnits: bigint;
  readonly createdAtNs: Instant;
  readonly expiresAtNs: Instant;
  /** The withdrawal that used it; a fee is used once. */
  readonly usedBy: string | null;
};

export function presentGuaranteedFee(fee: GuaranteedFee, assets: Assets): Record<string, unknown> {
  return {
    id: fee.id,
    asset: fee.asset,
    crypto_network: fee.cryptoNetwork,
    destination_address: fee.destinationAddress,
    amount: assets.format(fee.asset, fee.amountUnits),
    total: assets.format(fee.asset, fee.amountUnits + fee.feeUnits),
    fee: assets.format(fee.asset, fee.feeUnits),
    expires_at: formatInstant(fee.expiresAtNs),
  };
}

export function noFeeProblem(asset: string): Problem {
  return invalidField('/crypto_network', `has no configured fee for ${asset}, so nothing can be sent there`);
}

export type FeeTables = {
  readonly assets: Assets;
  readonly networks: Networks;
  readonly schedule: FeeSchedule;
  readonly guaranteedFees: Table<GuaranteedFee>;
};

export function guaranteedFeeCommand(
  caller: Caller,
  request: Static<ReturnType<typeof guaranteedFeeRequest>>,
  tables: FeeTables,
  /** What sending costs now, according to the rail. The guaranteed fee is never lower. */
  costUnits = 0n,
): Command<GuaranteedFee> {
  const { assets, schedule, guaranteedFees } = tables;
  const { asset, crypto_network: network } = request;
  const fields = createFields(assets);
  const given = readGiven(fields, request, readDestination(fields, request, tables));
  fields.check();
  const id = newId();
  return {
    actor: actorOf(caller),
    customerId: caller.customerId,
    balances: [],
    decide(view) {
      const scheduled = schedule.crypto(asset, network);
      if (scheduled === undefined) return refuse(noFeeProblem(asset));
      const feeUnits = scheduled > costUnits ? scheduled : costUnits;
      const charge = chargeOf(given!, feeUnits, asset, assets);
      if (charge instanceof Problem) return refuse(charge);
      const fee: GuaranteedFee = {
        id,
        customerId: caller.customerId,
        asset,
        cryptoNetwork: network,
        destinationAddress: request.destination_address,
        amountUnits: charge.amountUnits,
        feeUnits,
        createdAtNs: view.recordedAt,
        expiresAtNs: view.now + BigInt(LIMITS.guaranteedFeeMs) * NS_PER_MS,
        usedBy: null,
      };
      return {
        accepted: true,
        causeId: id,
        postings: [],
        writes: [write(guaranteedFees, id, fee)],
        answer: fee,
      };
    },
  };
}

/** Compares canonical addresses, because an address can be written in several forms. */
function isSameAddress(
  { canonicalAddress }: Networks,
  quoted: string,
  { crypto_network: network, destination_address: asked }: Destination,
): boolean {
  return canonicalAddress(network, asked) === canonicalAddress(network, quoted);
}

export type FeeUse = {
  readonly feeId: string;
  readonly fee: GuaranteedFee | undefined;
  readonly customerId: string;
  readonly destination: Destination;
  readonly now: Instant;
};

/** Whether this customer may use this fee now, for that destination. The caller checks the amount once it is known. */
export function feeFault(
  { feeId, fee, customerId, destination, now }: FeeUse,
  networks: Networks,
): Problem | undefined {
  if (fee?.customerId !== customerId) return notFound('fee', feeId);
  if (fee.usedBy !== null) return invalidField('/fee_id', `was used by the transfer ${fee.usedBy}`);
  if (now >= fee.expiresAtNs) {
    const expiredAt = formatInstant(fee.expiresAtNs);
    return new Problem('fee-expired', `The guaranteed fee ${feeId} expired at ${expiredAt}.`, {
      expired_at: expiredAt,
    });
  }
  const errors = (
    [
      ['asset', destination.asset === fee.asset],
      ['crypto_network', destination.crypto_network === fee.cryptoNetwork],
      ['destination_address', isSameAddress(networks, fee.destinationAddress, destination)],
    ] as const
  )
    .filter(([, isSame]) => !isSame)
    .map(([name]) => ({ pointer: `/${name}`, message: 'differs from the one that fee_id is for' }));
  return errors.length === 0 ? undefined : invalidRequest(errors);
}
