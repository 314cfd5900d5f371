import { Problem } from '../kernel/problem.ts';
import { systemAccountKey } from '../ledger/balances.ts';
import { type AccountRef, type Posting, read, type SystemAccount } from '../ledger/command.ts';
import { clearingAccount } from '../transfers/rails.ts';
import type { OrderOf } from './order.ts';
import { balancesOf, type Parts, type Plan } from './plan.ts';

const TREASURY: SystemAccount = { account: 'treasury' };

/** The operator's own money leaves: paid to an account of the operator. */
export function payoutPlan(order: OrderOf<'TREASURY_PAYOUT'>): Plan {
  const { asset, units, rail, account } = order;
  return {
    balances: [],
    reads: [],
    watched: [{ account: 'treasury', asset, hasFloor: true }],
    decide: () => ({
      postings: [{ asset, units, from: TREASURY, to: clearingAccount(rail) }],
      entry: { asset, amountUnits: units, rail, account },
    }),
  };
}

/**
 * A remainder that a customer leaves, to the treasury; or money that is lost outside, paid by the treasury: `clearing` mirrors
 * what is outside, so a loss there is posted to it.
 */
export function writeOffPlan(order: OrderOf<'WRITE_OFF'>): Plan {
  const { asset, units } = order;
  const rail = 'rail' in order ? order.rail : null;
  const [from, to]: [AccountRef, AccountRef] =
    'rail' in order
      ? [TREASURY, clearingAccount(order.rail)]
      : [{ profileId: order.profileId, account: 'available' }, TREASURY];
  const postings: Posting[] = [{ asset, units, from, to }];
  return {
    balances: balancesOf(postings),
    reads: [],
    watched: [{ account: 'treasury', asset, hasFloor: true }],
    decide: () => ({ postings, entry: { asset, amountUnits: units, rail } }),
  };
}

/**
 * What `fees` or `conversion` has goes to the treasury. `conversion` is negative in the asset that conversions pay out: then
 * the treasury refills it.
 */
export function sweepPlan(order: OrderOf<'SWEEP'>, { tables }: Parts): Plan {
  const { source, asset } = order;
  const { systemAccounts, assets } = tables;
  const key = systemAccountKey(source, asset);
  return {
    balances: [],
    reads: [read(systemAccounts, key)],
    watched: [
      { account: source, asset, hasFloor: false },
      { account: 'treasury', asset, hasFloor: true },
    ],
    decide(view) {
      const { balance } = view.row(systemAccounts, key)!;
      const there = balance < 0n ? -balance : balance;
      const units = order.units ?? there;
      if (units > there || there === 0n || (balance < 0n && source === 'fees')) {
        const [available, needed] = [balance, units].map((one) => assets.format(asset, one));
        return new Problem(
          'insufficient-funds',
          `The account ${source} has ${available} ${asset}, ${needed} ${asset} are needed.`,
          { account: source, asset, available, needed },
        );
      }
      const account: SystemAccount = { account: source };
      const [from, to] = balance > 0n ? [account, TREASURY] : [TREASURY, account];
      return { postings: [{ asset, units, from, to }], entry: { asset, amountUnits: units } };
    },
  };
}
