import type { SystemAccount } from '../ledger/command.ts';
import type { RailName } from '../networks/register.ts';

/** Where value comes from and goes to outside the service: one account per rail, such as `clearing:wire`. */
export function clearingAccount(rail: RailName): SystemAccount {
  return { account: `clearing:${rail.toLowerCase()}` };
}
