import type { Instant } from '../kernel/instant.ts';
import type { Notice, RailName } from '../rails/rail.ts';
import type { Behaviour } from './steering.ts';

/**
 * The memory of the simulated rails: what they were asked to pay. It outlives the process and is shared by all nodes,
 * as a bank's memory is; rails do not know where it is kept.
 */
export type JournalRequest = {
  readonly rail: RailName;
  readonly key: string;
  readonly asset: string;
  readonly amountUnits: bigint;
  readonly destination: string;
  readonly behaviour: Behaviour;
};

export type JournalEntry = JournalRequest & {
  /** Times that a request arrived. Zero: the rail has not heard of the payment. */
  readonly requests: number;
  readonly turnedAway: number;
  readonly acceptedAtNs: Instant | null;
  /** Decided by the user of the sandbox. */
  readonly forced: 'completed' | 'failed' | null;
};

export type TimedNotice = { readonly dueAtNs: Instant; readonly notice: Notice };

export type RailJournal = {
  /** A request arrived. The first one makes the entry and plans its notices; later ones are only counted. */
  arrive(request: JournalRequest, now: Instant, notices: readonly TimedNotice[]): Promise<JournalEntry>;
  /** A request was lost, or turned away at the door. How often that happened, this time included. */
  turnAway(request: JournalRequest): Promise<number>;
  find(rail: RailName, key: string): Promise<JournalEntry | undefined>;
  /** Decides a payment that is not final yet: none that arrived at or before `finalBeforeNs` is. False: too late. */
  force(
    request: JournalRequest,
    outcome: 'completed' | 'failed',
    now: Instant,
    finalBeforeNs: Instant,
  ): Promise<boolean>;
  /** Did another payment of that asset go to that destination before? */
  isKnownDestination(
    request: Pick<JournalRequest, 'rail' | 'asset' | 'destination' | 'key'>,
  ): Promise<boolean>;
  notices(now: Instant, noticesMax: number): Promise<readonly Notice[]>;
  acknowledge(ids: readonly string[]): Promise<void>;
};
