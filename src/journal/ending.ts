import { notFound, Problem } from '../kernel/problem.ts';
import { endByOperator, endingReads } from '../withdrawals/by-operator.ts';
import type { OrderOf } from './order.ts';
import type { Parts, Plan } from './plan.ts';

/** Ends a withdrawal whose rail cannot tell what happened, or one that was not submitted yet. */
export async function endingPlan(
  order: OrderOf<'WITHDRAWAL_RESOLUTION' | 'WITHDRAWAL_CANCELLATION'>,
  { tables, sources }: Parts,
): Promise<Plan> {
  const { transferId } = order;
  const seen = await sources.transfers.byId(transferId);
  if (seen === undefined) throw notFound('withdrawal', transferId);
  const { profileId, balanceAsset, balanceUnits } = seen;
  const outcome = order.kind === 'WITHDRAWAL_RESOLUTION' ? order.outcome : null;
  const corrects = { type: 'TRANSFER', id: transferId, legId: null } as const;
  return {
    balances: [{ profileId, asset: balanceAsset }],
    reads: endingReads(transferId, tables.withdrawals),
    decide(view) {
      const through = endByOperator(view, transferId, outcome ?? 'CANCELLED', tables.withdrawals);
      if (through instanceof Problem) return through;
      return {
        through,
        entry: {
          asset: balanceAsset,
          amountUnits: balanceUnits,
          corrects,
          correctsCauseId: transferId,
          transferId,
          outcome,
        },
      };
    },
  };
}
