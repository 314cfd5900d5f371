import type { FiatKind } from '../fiat-accounts/fiat-account.ts';
import type { CryptoNetwork } from '../kernel/address.ts';
import type { SystemAccount } from '../ledger/command.ts';
import { LIMITS } from '../limits.ts';
import type { TransferType } from './transfer.ts';

type FiatRail = { type: TransferType; depositType: TransferType; memoLengthMax: number };

/** The way out that a fiat account takes, and what fits into its memo (code points). */
export const FIAT_RAILS: Readonly<Record<FiatKind, FiatRail>> = {
  wire: { type: 'WIRE_WITHDRAWAL', depositType: 'WIRE_DEPOSIT', memoLengthMax: 100 },
  cubix: { type: 'CUBIX_WITHDRAWAL', depositType: 'CUBIX_DEPOSIT', memoLengthMax: 40 },
  bank_network_2: { type: 'BANK_WITHDRAWAL', depositType: 'BANK_DEPOSIT', memoLengthMax: 100 },
  bank_network_3: { type: 'BANK_WITHDRAWAL', depositType: 'BANK_DEPOSIT', memoLengthMax: 140 },
  cbit: { type: 'CBIT_WITHDRAWAL', depositType: 'CBIT_DEPOSIT', memoLengthMax: LIMITS.memoLengthMax },
};

/** Where value comes from and goes to outside the service: one account per rail, `clearing:wire`. */
export function clearingAccount(rail: FiatKind | CryptoNetwork): SystemAccount {
  return { account: `clearing:${rail.toLowerCase()}` };
}
