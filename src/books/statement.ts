import type { Instant } from '../kernel/instant.ts';
import type { Page } from '../kernel/paging.ts';
import type { LedgerEntry } from '../ledger/entries.ts';
import { LIMITS } from '../limits.ts';
import type { Cause, CauseOf } from './causes.ts';

/** What a profile has of an asset: `total` is what it owns, `held` the part that pending withdrawals reserve. */
export type Position = { readonly available: bigint; readonly held: bigint };
export const totalOf = ({ available, held }: Position): bigint => available + held;

/** A profile and asset over a period: from the instant `from` up to, but without, the instant `to`. */
export type Statement = {
  readonly profileId: string;
  readonly asset: string;
  readonly from: Instant;
  readonly to: Instant;
  readonly opening: Position;
  readonly closing: Position;
};

/**
 * A change of what the profile owns. Value that is put on hold, or released, still belongs to the profile: such entries are no
 * movements. What one cause moved at one instant is one movement.
 */
export type Movement = {
  readonly atNs: Instant;
  /** Its number among the movements of the same instant, from 1. */
  readonly number: number;
  readonly units: bigint;
  readonly totalAfter: bigint;
  readonly cause: Cause;
};

type Net = { readonly causeId: string; readonly units: bigint };

/** What each cause moved at one instant. Credits come first, so that no running balance is below zero. */
function netOf(entries: readonly LedgerEntry[]): Net[] {
  const sums = new Map<string, bigint>();
  for (const { causeId, delta } of entries) sums.set(causeId, (sums.get(causeId) ?? 0n) + delta);
  const nets = [...sums].map(([causeId, units]) => ({ causeId, units })).filter(({ units }) => units !== 0n);
  return [...nets.filter(({ units }) => units > 0n), ...nets.filter(({ units }) => units < 0n)];
}

/** Splits entries into those of each instant, in order. */
function byInstant(entries: readonly LedgerEntry[]): LedgerEntry[][] {
  const groups: LedgerEntry[][] = [];
  for (const entry of entries) {
    const last = groups.at(-1);
    if (last !== undefined && last[0]!.createdAtNs === entry.createdAtNs) last.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

export type StatementSource = {
  entries(page: Page): Promise<readonly LedgerEntry[]>;
  causes(ids: readonly string[]): Promise<CauseOf>;
};

/** Pages of entries in the order of time. All entries of an instant are in the same page. */
async function* pagesOf({ from, to }: Statement, source: StatementSource): AsyncGenerator<LedgerEntry[]> {
  const limit = LIMITS.statementEntriesMax;
  const ranges: Page['ranges'] = [
    { column: 'created_at', operator: '>=', ns: from },
    { column: 'created_at', operator: '<', ns: to },
  ];
  let after: Page['after'];
  let waiting: LedgerEntry[] = [];
  for (;;) {
    const page: Page = { limit, descending: false, orderBy: 'created_at', after, ranges };
    const rows = await source.entries(page);
    const read = rows.slice(0, limit);
    waiting.push(...read);
    if (rows.length <= limit) {
      if (waiting.length > 0) yield waiting;
      return;
    }
    const { createdAtNs: ns, id } = read.at(-1)!;
    after = { ns, id };
    // The next page may begin with the same instant.
    const cut = waiting.findIndex((entry) => entry.createdAtNs === ns);
    if (cut > 0) yield waiting.slice(0, cut);
    waiting = waiting.slice(cut);
  }
}

/** The movements of the period, some at a time. Throws if they do not lead from the opening to the closing balance. */
export async function* movementsOf(
  statement: Statement,
  source: StatementSource,
): AsyncGenerator<readonly Movement[]> {
  let total = totalOf(statement.opening);
  for await (const entries of pagesOf(statement, source)) {
    const instants = byInstant(entries).map((group) => ({ atNs: group[0]!.createdAtNs, nets: netOf(group) }));
    const causeOf = await source.causes(instants.flatMap(({ nets }) => nets.map(({ causeId }) => causeId)));
    yield instants.flatMap(({ atNs, nets }) =>
      nets.map(({ causeId, units }, index): Movement => {
        total += units;
        const cause = causeOf(causeId, statement.profileId);
        return { atNs, number: index + 1, units, totalAfter: total, cause };
      }),
    );
  }
  if (total === totalOf(statement.closing)) return;
  throw new Error(
    `the entries of ${statement.asset} of profile ${statement.profileId} do not lead to its balance: run ferry verify`,
  );
}
