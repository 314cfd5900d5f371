import { UTXO_LIMITS } from '../../limits-utxo.ts';
import type { Assignment, Coin, Version } from '../driver.ts';
import type { Chain } from './chain.ts';
import { feeAt, larger, type Split, split } from './fees.ts';
import { scriptOf } from './script.ts';
import { outputsOf, sumOf } from './select.ts';

/**
 * Versions of an assignment spend the same coins and make the same payments; only the change and the fee differ. So at most
 * one of them can ever be in the chain. Pure.
 */

export type FeeBounds = {
  /** Units per 1,000 vbytes. */
  readonly minRate: bigint;
  readonly maxRate: bigint;
  /** By how much a replacement must pay more than what it replaces, at the rate of its size. */
  readonly incrementRate: bigint;
};

/** An unconfirmed transaction of our own whose change is spent. */
export type Ancestor = {
  readonly hash: string;
  /** One of its coins: if something else spends that for good, the ancestor and all that builds on it can never be mined. */
  readonly coin: Pick<Coin, 'txHash' | 'output'>;
};

/** What an assignment of this family keeps in its details. */
export type Details = {
  readonly changePath: string;
  readonly changeAddress: string;
  /** The newest block when the assignment was made: its transaction can only be in later ones. */
  readonly fromHeight: number;
  readonly fromHash: string;
  readonly ancestors: readonly Ancestor[];
  readonly ancestorsSize: bigint;
  readonly ancestorsFeeUnits: bigint;
  /** Of a cancellation: the fee of what it replaces. */
  readonly replacedFeeUnits: bigint;
};

export function writeDetails(details: Details): Readonly<Record<string, string>> {
  return {
    changePath: details.changePath,
    changeAddress: details.changeAddress,
    fromHeight: String(details.fromHeight),
    fromHash: details.fromHash,
    ancestors: JSON.stringify(details.ancestors),
    ancestorsSize: String(details.ancestorsSize),
    ancestorsFeeUnits: String(details.ancestorsFeeUnits),
    replacedFeeUnits: String(details.replacedFeeUnits),
  };
}

export function readDetails(details: Readonly<Record<string, string>>): Details {
  return {
    changePath: details.changePath!,
    changeAddress: details.changeAddress!,
    fromHeight: Number(details.fromHeight),
    fromHash: details.fromHash!,
    ancestors: JSON.parse(details.ancestors!) as Ancestor[],
    ancestorsSize: BigInt(details.ancestorsSize!),
    ancestorsFeeUnits: BigInt(details.ancestorsFeeUnits!),
    replacedFeeUnits: BigInt(details.replacedFeeUnits!),
  };
}

/** What a transaction must add so that its unconfirmed ancestors reach the rate together with it. */
export function ancestorsFee(
  { ancestorsSize, ancestorsFeeUnits }: Pick<Details, 'ancestorsSize' | 'ancestorsFeeUnits'>,
  rate: bigint,
): bigint {
  return larger(feeAt(rate, ancestorsSize) - ancestorsFeeUnits, 0n);
}

export type VersionPlan = Split & { readonly rate: bigint };

/** The first version at the rate, or at a lower one if the fee has risen since the coins were chosen. */
export function firstVersion(
  chain: Chain,
  assignment: Assignment,
  rate: bigint,
  bounds: FeeBounds,
): VersionPlan | undefined {
  const details = readDetails(assignment.details);
  const least = (size: bigint): bigint =>
    details.replacedFeeUnits === 0n ? 0n : details.replacedFeeUnits + feeAt(bounds.incrementRate, size);
  const at = (one: bigint): Split | undefined =>
    splitAt(chain, assignment, (size) => larger(feeAt(one, size) + ancestorsFee(details, one), least(size)));
  return withRate(at(rate) ?? at(bounds.minRate));
}

/** A version that pays more than all before it; undefined if the bounds or the coins do not allow one. */
export function nextVersion(
  chain: Chain,
  assignment: Assignment,
  versions: readonly Version[],
  rate: bigint,
  bounds: FeeBounds,
): VersionPlan | undefined {
  const details = readDetails(assignment.details);
  const paidUnits = versions.reduce((most, { feeUnitsMax }) => larger(most, feeUnitsMax), 0n);
  const feeFor = (size: bigint): bigint =>
    larger(feeAt(rate, size) + ancestorsFee(details, rate), paidUnits + feeAt(bounds.incrementRate, size));
  const found = splitAt(chain, assignment, feeFor);
  if (found === undefined) return undefined;
  // What is too small to be change goes to the fee on top of what is needed, so it does not count here.
  const most = feeAt(bounds.maxRate, found.size) + ancestorsFee(details, bounds.maxRate);
  return feeFor(found.size) <= most ? withRate(found) : undefined;
}

function splitAt(
  chain: Chain,
  { coins, payments, details }: Assignment,
  feeFor: (size: bigint) => bigint,
): Split | undefined {
  return split({
    chain,
    coins: coins.length,
    inUnits: sumOf(coins),
    payments: outputsOf(chain, payments),
    changeScript: scriptOf(chain, details.changeAddress!)!,
    feeFor,
  });
}

function withRate(found: Split | undefined): VersionPlan | undefined {
  return found && { ...found, rate: (found.feeUnits * 1000n) / found.size };
}

/** The next rate, after a version was not mined in time although nodes do not ask for more. */
export const raised = (rate: bigint): bigint => rate + larger(rate / 4n, 1n);

/** Spends the coins of an assignment whose payments must not be made. */
export function cancellationOf(
  assignment: Assignment,
  versions: readonly Version[],
): Omit<Assignment, 'id' | 'lane' | 'assignedAtMs'> {
  const { coins, slot } = assignment;
  const replacedFeeUnits = versions.reduce((most, { feeUnitsMax }) => larger(most, feeUnitsMax), 0n);
  const details = writeDetails({ ...readDetails(assignment.details), replacedFeeUnits });
  return {
    purpose: 'CANCELLATION',
    slot,
    coins: coins.slice(0, UTXO_LIMITS.coinsMax),
    payments: [],
    details,
  };
}
