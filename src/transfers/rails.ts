import type { SystemAccount } from '../ledger/command.ts';
import type { RailName } from '../networks/register.ts';

/** The account that mirrors the value outside the service: one per rail, such as `clearing:wire`. */
export function clearingAccount(rail: RailName): SystemAccount {
  return { account: `clearing:${rail.toLowerCase()}` };
}
