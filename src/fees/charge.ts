import type { Assets } from '../kernel/asset.ts';
import type { Fields } from '../kernel/fields.ts';
import { invalidField, type Problem } from '../kernel/problem.ts';

/** What the request states: the amount that arrives, or the total that is debited. */
export type Given = { readonly field: 'amount' | 'total'; readonly units: bigint };

export type Charge = {
  readonly amountUnits: bigint;
  readonly feeUnits: bigint;
  readonly totalUnits: bigint;
};

type AmountOrTotal = { readonly amount?: string; readonly total?: string };

/** Requires exactly one of amount and total; otherwise both fields get an error, because either could be the wrong one. */
export function readGiven(
  fields: Fields,
  { amount, total }: AmountOrTotal,
  asset: string | undefined,
): Given | undefined {
  if ((amount === undefined) === (total === undefined)) {
    const message =
      amount === undefined ? 'is required, unless %s is given' : 'must not be given together with %s';
    fields.fault('/amount', message.replace('%s', 'total'));
    fields.fault('/total', message.replace('%s', 'amount'));
    return undefined;
  }
  const field = amount === undefined ? 'total' : 'amount';
  const units = fields.amount(`/${field}`, amount ?? total!, asset);
  return units === undefined ? undefined : { field, units };
}

/** The amount, the fee and their sum, or a problem when the fee leaves nothing to send. */
export function chargeOf(given: Given, feeUnits: bigint, asset: string, assets: Assets): Charge | Problem {
  if (given.field === 'amount') {
    return { amountUnits: given.units, feeUnits, totalUnits: given.units + feeUnits };
  }
  if (given.units <= feeUnits) {
    return invalidField(
      '/total',
      `must be greater than the fee of ${assets.format(asset, feeUnits)} ${asset}`,
    );
  }
  return { amountUnits: given.units - feeUnits, feeUnits, totalUnits: given.units };
}
