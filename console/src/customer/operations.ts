import type { IconName } from '~/ui/icon.tsx';

export type Operation = {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly scope: string;
  readonly icon: IconName;
  readonly group: 'Move money' | 'Receive money' | 'Set up';
};

/** What can be created, each under `/new/<id>`. */
export const OPERATIONS: readonly Operation[] = [
  {
    id: 'fiat-withdrawal',
    title: 'Fiat withdrawal',
    about: 'Pay US dollars to a registered fiat account.',
    scope: 'transfer:write_fiat_withdrawal',
    icon: 'bank',
    group: 'Move money',
  },
  {
    id: 'crypto-withdrawal',
    title: 'Crypto withdrawal',
    about: 'Send a crypto asset to an address, with a guaranteed fee.',
    scope: 'transfer:write_crypto_withdrawal',
    icon: 'out',
    group: 'Move money',
  },
  {
    id: 'platform-transfer',
    title: 'Platform transfer',
    about: 'Move value to a profile of any customer. It is complete at once and costs nothing.',
    scope: 'transfer:write_platform_transfer',
    icon: 'transfers',
    group: 'Move money',
  },
  {
    id: 'internal-transfer',
    title: 'Internal transfer',
    about: 'Move value between two of your own profiles.',
    scope: 'transfer:write_internal_transfer',
    icon: 'transfers',
    group: 'Move money',
  },
  {
    id: 'settlement',
    title: 'Settlement transaction',
    about: 'Offer an exchange to another party. All legs settle at once, or none.',
    scope: 'settlement:write_transaction',
    icon: 'settlement',
    group: 'Move money',
  },
  {
    id: 'deposit-address',
    title: 'Deposit address',
    about: 'An address of a crypto network that credits a profile.',
    scope: 'transfer:write_deposit_address',
    icon: 'inbox',
    group: 'Receive money',
  },
  {
    id: 'deposit-instructions',
    title: 'Fiat deposit instructions',
    about: 'Where to send money, and the memo that identifies a profile.',
    scope: 'transfer:write_fiat_deposit_instructions',
    icon: 'inbox',
    group: 'Receive money',
  },
  {
    id: 'fiat-account',
    title: 'Fiat account',
    about: 'Register a bank account or wallet to withdraw to. It is reviewed first.',
    scope: 'transfer:write_fiat_account',
    icon: 'bank',
    group: 'Set up',
  },
  {
    id: 'members',
    title: 'Account members',
    about: 'Add identities to an account, each with its roles.',
    scope: 'identity:write_account',
    icon: 'people',
    group: 'Set up',
  },
];
