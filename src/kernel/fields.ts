import { DECIMALS_MAX, parseAmount } from './amount.ts';
import type { Assets } from './asset.ts';
import { type FieldError, invalidRequest, Problem } from './problem.ts';

/** Collects all validation errors of a request, so that the caller gets them at once. */
export type Fields = {
  fault(pointer: string, message: string): void;
  /** The code of a known asset; undefined after an error. */
  asset(pointer: string, code: string): string | undefined;
  /** The units of an amount; undefined after an error, or if the asset is unknown. */
  amount(pointer: string, text: string, assetCode: string | undefined): bigint | undefined;
  /** Throws a problem if there was any error. */
  check(): void;
};

export function createFields(assets: Assets): Fields {
  const errors: FieldError[] = [];
  let precisionFaults = 0;
  let precision: { asset: string; decimals: number; message: string } | undefined;
  return {
    fault: (pointer, message) => void errors.push({ pointer, message }),
    asset(pointer, code) {
      if (assets.find(code) !== undefined) return code;
      errors.push({
        pointer,
        message: `must be a known asset: ${assets.list.map((one) => one.code).join(', ')}`,
      });
      return undefined;
    },
    amount(pointer, text, assetCode) {
      // Even if the asset is unknown, report amounts that are invalid for every asset.
      const parsed =
        assetCode === undefined ? parseAmount(text, DECIMALS_MAX) : assets.parse(assetCode, text);
      if (assetCode === undefined && (parsed.ok || parsed.fault === 'precision')) return undefined;
      if (parsed.ok) return parsed.units;
      errors.push({ pointer, message: parsed.message });
      if (parsed.fault === 'precision' && assetCode !== undefined) {
        const { decimals } = assets.get(assetCode);
        precisionFaults += 1;
        precision ??= {
          asset: assetCode,
          decimals,
          message: `${pointer.slice(1)} ${parsed.message} for ${assetCode}.`,
        };
      }
      return undefined;
    },
    check() {
      if (errors.length === 0) return;
      // The problem has room for one asset: the first. `errors` has all of them.
      if (precision !== undefined && errors.length === precisionFaults) {
        throw new Problem('exceeds-precision', precision.message, {
          asset: precision.asset,
          max_decimals: precision.decimals,
          errors,
        });
      }
      throw invalidRequest(errors);
    },
  };
}
