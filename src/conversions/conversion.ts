import type { Assets } from '../kernel/asset.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';

/** USD against the operator-minted stablecoin or back, one to one, in one profile. It is settled when it exists. */
export type Conversion = {
  readonly id: string;
  readonly customerId: string;
  readonly profileId: string;
  readonly sourceAsset: string;
  readonly sourceUnits: bigint;
  readonly sourceDecimals: number;
  readonly targetAsset: string;
  /** The same value in the units of the target. */
  readonly targetUnits: bigint;
  readonly targetDecimals: number;
  readonly refId: string | null;
  readonly identityId: string | null;
  readonly accountId: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly createdAtNs: Instant;
};

/** The space of `ref_id`. */
export const CONVERSION_SPACE = 'conversions';

/** As users see it. Absent fields are left out, never null. */
export function presentConversion(conversion: Conversion, assets: Assets) {
  const { refId, identityId, accountId, metadata } = conversion;
  return {
    id: conversion.id,
    customer_id: conversion.customerId,
    profile_id: conversion.profileId,
    amount: assets.format(conversion.sourceAsset, conversion.sourceUnits),
    source_asset: conversion.sourceAsset,
    target_asset: conversion.targetAsset,
    status: 'SETTLED' as const,
    created_at: formatInstant(conversion.createdAtNs),
    ...(refId !== null && { ref_id: refId }),
    ...(identityId !== null && { identity_id: identityId }),
    ...(accountId !== null && { account_id: accountId }),
    ...(metadata !== null && { metadata: { ...metadata } }),
  };
}
