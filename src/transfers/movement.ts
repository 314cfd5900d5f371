import type { Posting, Write } from '../ledger/command.ts';
import type { Transfer } from './transfer.ts';

/** What creates or ends a transfer, as a part of a larger command: its postings have the transfer as their cause. */
export type Movement = {
  readonly transfer: Transfer;
  readonly postings: readonly Posting[];
  readonly writes: readonly Write[];
};
