import type { Instant } from '../kernel/instant.ts';

/** One line of a statement, or what one cause moved in the ledger. */
export type Item = {
  readonly id: string;
  readonly side: 'LEDGER' | 'STATEMENT';
  readonly account: string;
  readonly asset: string;
  /** Positive: value came in, as the bank sees it. */
  readonly units: bigint;
  readonly reference: string;
  readonly createdAtNs: Instant;
  readonly causeId: string | null;
  readonly statementId: string | null;
  readonly matchId: string | null;
};

/** With its normalized references. */
export type NewItem = Item & { readonly refs: readonly string[] };

/** A line of a statement that is being imported. */
export type Line = {
  readonly atNs: Instant;
  readonly units: bigint;
  readonly references: readonly string[];
};

export type ReadStatement = {
  readonly statementId: string | undefined;
  readonly asset: string | undefined;
  readonly lines: readonly Line[];
  /** Of a camt.053: what was there at the end. */
  readonly closing?: { readonly atNs: Instant; readonly units: bigint };
};
