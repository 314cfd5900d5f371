import type { Static } from 'typebox';
import { canonicalAddress } from '../kernel/address.ts';
import type { Assets } from '../kernel/asset.ts';
import { createFields } from '../kernel/fields.ts';
import { newId } from '../kernel/id.ts';
import { formatInstant, type Instant, NS_PER_MS } from '../kernel/instant.ts';
import { invalidField, invalidRequest, notFound, Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, refuse, type Table, write } from '../ledger/command.ts';
import { LIMITS } from '../limits.ts';
import { chargeOf, readGiven } from './charge.ts';
import { type Destination, readDestination } from './destination.ts';
import type { FeeSchedule } from './schedule.ts';
import type { GuaranteedFeeRequest } from './schema.ts';

/** A promise of what one withdrawal will cost: to that destination, of at most that amount, until then. */
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
  /** The withdrawal that used it; it is not given out twice. */
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
  readonly schedule: FeeSchedule;
  readonly guaranteedFees: Table<GuaranteedFee>;
};

export function guaranteedFeeCommand(
  caller: Caller,
  request: Static<typeof GuaranteedFeeRequest>,
  { assets, schedule, guaranteedFees }: FeeTables,
  /** What the rail says that sending costs now; a promise is not made below that. */
  costUnits = 0n,
): Command<GuaranteedFee> {
  const { asset, crypto_network: network } = request;
  const fields = createFields(assets);
  const given = readGiven(fields, request, readDestination(fields, request, assets));
  fields.check();
  const id = newId();
  return {
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

/** However it is written. */
function isSameAddress(quoted: string, { crypto_network: network, destination_address: asked }: Destination) {
  return canonicalAddress(network, asked) === canonicalAddress(network, quoted);
}

/** May this customer use this fee now, for that destination? Whether the amount fits is asked once it is known. */
export function feeFault(
  feeId: string,
  fee: GuaranteedFee | undefined,
  customerId: string,
  destination: Destination,
  now: Instant,
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
      ['destination_address', isSameAddress(fee.destinationAddress, destination)],
    ] as const
  )
    .filter(([, isSame]) => !isSame)
    .map(([name]) => ({ pointer: `/${name}`, message: 'is not the one that fee_id is for' }));
  return errors.length === 0 ? undefined : invalidRequest(errors);
}
