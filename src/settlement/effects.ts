import { UNITS_MAX } from '../kernel/amount.ts';
import type { Assets } from '../kernel/asset.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import type { SecondaryStatus, Settlement } from './transaction.ts';

/** How much a transaction changes a balance: a negative number is a debit, a positive one a credit. */
export type BalanceEffect = {
  readonly key: string;
  readonly profileId: string;
  readonly asset: string;
  readonly units: bigint;
};

/**
 * How settling would change each balance. All legs settle at once, so legs of one asset in opposite directions are netted;
 * a balance that does not change is left out.
 */
export function effectsOf(
  settlement: Pick<Settlement, 'sourceProfileId' | 'targetProfileId' | 'legs'>,
): BalanceEffect[] {
  const delivered = new Map<string, bigint>();
  for (const { direction, asset, units } of settlement.legs) {
    const sum = delivered.get(asset) ?? 0n;
    delivered.set(asset, direction === 'DELIVER' ? sum + units : sum - units);
  }
  const { sourceProfileId, targetProfileId } = settlement;
  return [...delivered].flatMap(([asset, units]) =>
    units === 0n
      ? []
      : [
          { key: `${sourceProfileId}/${asset}`, profileId: sourceProfileId, asset, units: -units },
          { key: `${targetProfileId}/${asset}`, profileId: targetProfileId, asset, units },
        ],
  );
}

/**
 * Which side lacks which asset, and how much if that side is the viewer's own: nobody learns another customer's balance.
 * Undefined if the transaction can settle.
 */
export function awaitingFunds(
  settlement: Settlement,
  available: (key: string) => bigint,
  assets: Assets,
  /** The customer who reads it. Without one, there are no figures at all: that is what records keep. */
  viewer?: string,
): SecondaryStatus | undefined {
  const lacking: string[] = [];
  const full: string[] = [];
  for (const { key, profileId, asset, units } of effectsOf(settlement)) {
    const has = available(key);
    const [side, owner] =
      profileId === settlement.sourceProfileId
        ? ['source', settlement.customerId]
        : ['target', settlement.targetCustomerId];
    const who = `The ${side} profile ${profileId}`;
    if (has + units < 0n) {
      const [lacks, needs, owns] = [-units - has, -units, has].map((one) => assets.format(asset, one));
      lacking.push(
        owner === viewer
          ? `${who} lacks ${lacks} ${asset}: it has ${owns} of ${needs} ${asset}.`
          : `${who} lacks ${asset}.`,
      );
    } else if (has + units > UNITS_MAX)
      full.push(`${who} would have more ${asset} than the ledger can hold.`);
  }
  if (lacking.length > 0) return { name: 'AWAITING_FUNDS', detail: lacking.join(' ') };
  return full.length > 0 ? { name: 'AWAITING_ROOM', detail: full.join(' ') } : undefined;
}

/** A profile is disabled. Both parties read the same text, which does not reveal whose profile it is. */
export const AWAITING_PARTY: SecondaryStatus = {
  name: 'AWAITING_PARTY',
  detail: 'A party to the transaction cannot settle at the moment.',
};

/** All legs are covered, and the transaction is about to settle. */
export const COVERED: SecondaryStatus = {
  name: 'AWAITING_SETTLEMENT',
  detail: 'The settlement window is open; settlement is in progress.',
};

/**
 * Why a transaction has not settled: what the engine found, or, if it was not tried yet, what follows from its record.
 * `updatedAtNs` is used as the current time: at that time the transaction entered its state.
 */
export function secondaryStatusOf(settlement: Settlement): SecondaryStatus | undefined {
  const { status, windowStartNs, windowEndNs, updatedAtNs, targetProfileId } = settlement;
  const at = (instant: Instant): string => formatInstant(instant);
  if (settlement.secondaryStatus !== null) return settlement.secondaryStatus;
  if (status === 'PENDING') {
    return {
      name: 'AWAITING_AFFIRMATION',
      detail: `The owner of the target profile ${targetProfileId} has not affirmed the transaction. It expires at ${at(windowEndNs)}.`,
    };
  }
  if (status !== 'AFFIRMED') return undefined;
  return windowStartNs > updatedAtNs
    ? {
        name: 'AWAITING_WINDOW',
        detail: `The settlement window opens at ${at(windowStartNs)} and ends at ${at(windowEndNs)}.`,
      }
    : COVERED;
}
