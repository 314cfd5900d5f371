import { creditSuspense, openSuspense } from '../deposits/by-operator.ts';
import { newId } from '../kernel/id.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import { read, write } from '../ledger/command.ts';
import type { RailName } from '../rails/rail.ts';
import { clearingAccount } from '../transfers/rails.ts';
import type { OrderOf } from './order.ts';
import type { Parts, Plan } from './plan.ts';

/** Credits it as the deposit that it is, without a fee: the customer sees a transfer. */
export async function suspenseCreditPlan(order: OrderOf<'SUSPENSE_CREDIT'>, parts: Parts): Promise<Plan> {
  const { tables, sources } = parts;
  const { suspenseId, profileId } = order;
  const seen = await sources.origins.suspense(suspenseId);
  if (seen === undefined) throw notFound('suspense deposit', suspenseId);
  const { asset, amountUnits, rail, account } = seen;
  const transferId = newId();
  return {
    balances: [{ profileId, asset }],
    reads: [read(tables.profiles, profileId), read(tables.suspenseDeposits, suspenseId)],
    decide(view) {
      const through = creditSuspense(view, { suspenseId, profileId, transferId }, tables);
      if (through instanceof Problem) return through;
      return {
        through,
        entry: { asset, amountUnits, rail, account, transferId, suspenseDepositId: suspenseId },
      };
    },
  };
}

/**
 * The operator has paid it back, outside of Ferry: rails do not report the account of a sender, so there is nothing that a
 * withdrawal could be sent to. The entry books that payment, with the bank's reference as the evidence.
 */
export async function suspenseReturnPlan(
  id: string,
  order: OrderOf<'SUSPENSE_RETURN'>,
  { tables, sources }: Parts,
): Promise<Plan> {
  const { suspenseId } = order;
  const seen = await sources.origins.suspense(suspenseId);
  if (seen === undefined) throw notFound('suspense deposit', suspenseId);
  const { asset, amountUnits: units, rail, booked } = seen;
  const account = order.account ?? seen.account;
  const to = clearingAccount(rail as RailName);
  return {
    balances: [],
    reads: [read(tables.suspenseDeposits, suspenseId)],
    decide(view) {
      const suspense = openSuspense(view, suspenseId, tables);
      if (suspense instanceof Problem) return suspense;
      return {
        // What was never posted has nothing to post back.
        postings: booked ? [{ asset, units, from: { account: 'suspense' }, to }] : [],
        writes: [write(tables.suspenseDeposits, suspenseId, { ...suspense, returnedBy: id })],
        entry: { asset, amountUnits: units, rail, account, suspenseDepositId: suspenseId },
      };
    },
  };
}
