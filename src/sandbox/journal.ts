import type { Instant } from '../kernel/instant.ts';
import type { Notice, RailName } from '../rails/rail.ts';
import type { Behaviour } from './steering.ts';

/**
 * The payments that were submitted to the simulated rails. Like a bank's records, the journal survives restarts, and all
 * nodes share it. The rails do not depend on how it is stored.
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
  /** How often a request arrived. Zero: the rail does not know the payment. */
  readonly requests: number;
  readonly turnedAway: number;
  readonly acceptedAtNs: Instant | null;
  /** The outcome that the user of the sandbox decided. */
  readonly forced: 'completed' | 'failed' | null;
};

export type TimedNotice = { readonly dueAtNs: Instant; readonly notice: Notice };

export type RailJournal = {
  /** Records a request. The first one creates the entry and plans its notices; later ones are only counted. */
  receive(request: JournalRequest, now: Instant, notices: readonly TimedNotice[]): Promise<JournalEntry>;
  /** Counts a request that was lost or not accepted. Returns the count, including this request. */
  turnAway(request: JournalRequest): Promise<number>;
  find(rail: RailName, key: string): Promise<JournalEntry | undefined>;
  /** Decides a payment that is not final yet: one that arrived after `finalBeforeNs`. False: the payment is final. */
  force(
    request: JournalRequest,
    outcome: 'completed' | 'failed',
    now: Instant,
    finalBeforeNs: Instant,
  ): Promise<boolean>;
  /** Whether another payment of the asset went to the destination before. */
  isKnownDestination(
    request: Pick<JournalRequest, 'rail' | 'asset' | 'destination' | 'key'>,
  ): Promise<boolean>;
  notices(now: Instant, noticesMax: number): Promise<readonly Notice[]>;
  acknowledge(ids: readonly string[]): Promise<void>;
};
