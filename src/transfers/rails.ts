import type { FiatKind } from '../fiat-accounts/fiat-account.ts';
import type { CryptoNetwork } from '../kernel/address.ts';
import type { SystemAccount } from '../ledger/command.ts';
import { LIMITS } from '../limits.ts';
import type { TransferType } from './transfer.ts';

/** The way out that a fiat account takes, and what fits into its memo (code points). */
export const FIAT_RAILS: Readonly<Record<FiatKind, { type: TransferType; memoLengthMax: number }>> = {
  wire: { type: 'WIRE_WITHDRAWAL', memoLengthMax: 100 },
  cubix: { type: 'CUBIX_WITHDRAWAL', memoLengthMax: 40 },
  bank_network_2: { type: 'BANK_WITHDRAWAL', memoLengthMax: 100 },
  bank_network_3: { type: 'BANK_WITHDRAWAL', memoLengthMax: 140 },
  cbit: { type: 'CBIT_WITHDRAWAL', memoLengthMax: LIMITS.memoLengthMax },
};

/** Where value comes from and goes to outside the service: one account per rail, `clearing:wire`. */
export function clearingAccount(rail: FiatKind | CryptoNetwork): SystemAccount {
  return { account: `clearing:${rail.toLowerCase()}` };
}
