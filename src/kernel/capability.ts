import type { EventFamily } from './event-types.ts';
import type { ProblemExamples } from './problem-examples.ts';
import type { Route } from './route.ts';
import type { SignedRoute } from './signed-route.ts';
import type { Worker } from './worker.ts';

/** Work that waits in the database, as a metric for operators. The database counts it, so every node reports the same. */
export type Backlog = {
  /** The help text of each gauge, by the name of the metric. */
  readonly gauges: Readonly<Record<string, string>>;
  /** The columns that tell the rows apart, where there can be several. */
  readonly labels?: readonly string[];
  /** Rows with a column for each gauge. Reads little, however much waits. */
  read(): Promise<readonly Readonly<Record<string, unknown>>[]>;
};

/** Rows of a table that were written before its columns were sealed; see `src/sealing/older-rows.ts`. */
export type OlderRows = {
  readonly table: string;
  /**
   * Seals the next rows in the order of their keys, after a key; '' is before all of them. Rows that are sealed already stay as
   * they are. Returns the last key that it has looked at; undefined if there are no more.
   */
  sealNext(after: string, rowsMax: number): Promise<string | undefined>;
};

/**
 * One thing that the service can do, as a value. `createX` in `<folder>/capability.ts` creates it from its dependencies,
 * and `capabilities.ts` lists all of them: the HTTP layer, the metrics and the process only loop over that list. A
 * capability can have further fields, which other capabilities use (a table, a function).
 */
export type Capability = {
  readonly name: string;
  readonly routes?: readonly Route[];
  readonly signedRoutes?: readonly SignedRoute[];
  /** The groups of its operations in the API reference, each with its description. */
  readonly tags?: Readonly<Record<string, string>>;
  /** An example of every problem that its operations list. */
  readonly problemExamples?: ProblemExamples;
  readonly eventTypes?: readonly EventFamily[];
  readonly workers?: readonly Worker[];
  readonly backlogs?: readonly Backlog[];
  readonly olderRows?: readonly OlderRows[];
};

/** Groups that have operations of several capabilities. */
export const OPERATOR_TAG = {
  Operator: 'For the operator of the service: across all customers.',
} as const;

export const CONTROL_TAG = {
  Control: 'Who did what, and what waits for the approval of others.',
} as const;
