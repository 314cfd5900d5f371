import type { Assets } from '../kernel/asset.ts';
import type { Instant } from '../kernel/instant.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import { read, type View } from '../ledger/command.ts';
import type { Movement } from '../transfers/movement.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { type Ending, type EndingTables, endNow } from './outcome.ts';
import { type OperatorEnding, operatorFault } from './states.ts';
import { CANCELLED, NOT_PAID, PAID_BY_OPERATOR, paid, returned } from './words.ts';

/** Withdrawals that an operator ends, or whose money came back: their rules, for commands of the journal. */

export type Resolution = 'PAID' | 'NOT_PAID';

const ENDINGS: Readonly<Record<Resolution | 'CANCELLED', Ending>> = {
  PAID: { kind: 'completed', detail: PAID_BY_OPERATOR },
  NOT_PAID: { kind: 'failed', words: NOT_PAID },
  CANCELLED: { kind: 'failed', words: CANCELLED },
};

type Tables = EndingTables;

export const endingReads = (id: string, { transfers, works }: Tables) => [
  read(transfers, id),
  read(works, id),
];

/**
 * Ends a withdrawal once, with the evidence of an operator. Whatever the rail reports afterwards posts nothing: a report that
 * differs is recorded as a contradiction.
 */
export function endByOperator(
  view: View,
  id: string,
  outcome: Resolution | 'CANCELLED',
  tables: Tables,
): Movement | Problem {
  const how: OperatorEnding = outcome === 'CANCELLED' ? 'cancel' : 'resolve';
  const transfer = view.row(tables.transfers, id);
  if (transfer?.direction !== 'DEBIT' || transfer.groupId) return notFound('withdrawal', id);
  const work = view.row(tables.works, id);
  if (transfer.status !== 'PENDING') {
    return new Problem('invalid-state', `Withdrawal ${id} is ${transfer.status} already.`, {
      status: transfer.status,
    });
  }
  if (work === undefined || work.done === true) throw new Error(`the pending withdrawal ${id} has no work`);
  const fault = operatorFault(work, how, view.now);
  if (fault !== undefined) {
    return new Problem('invalid-state', `Withdrawal ${id} is ${work.state}. ${fault}`, {
      status: work.state,
    });
  }
  return endNow(transfer, work, ENDINGS[outcome], view.recordedAt, tables);
}

/** The transfer after some of its payment came back, or after that was corrected. */
export function withReturned(
  transfer: Transfer,
  returnedUnits: bigint,
  now: Instant,
  assets: Assets,
): Transfer {
  const { asset, amountUnits } = transfer;
  const amounts = [returnedUnits, amountUnits].map((units) => assets.format(asset, units));
  const sentence = `${amounts[0]} of ${amounts[1]} ${asset} came back after the payment.`;
  return {
    ...transfer,
    updatedAtNs: now > transfer.updatedAtNs ? now : transfer.updatedAtNs + 1n,
    secondaryStatus:
      returnedUnits === 0n
        ? paid('Paid. A return that was booked has been reversed.')
        : returned(returnedUnits === amountUnits, sentence),
  };
}
