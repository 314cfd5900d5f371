/** Shared by all examples of the API reference, so that they fit together. */
export const EXAMPLE_IDS = {
  customer: '01981b3e-1f40-7d22-8c19-5b7a90e3d614',
  profile: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40',
  otherProfile: '01981b40-0d91-7a53-8b27-64c0f1a97e15',
  fiatAccount: '01981b41-5e08-7c6f-a1d4-92b7e35f0c86',
  identity: '01981b42-3377-7b90-8e4c-0a5d16f3b928',
  account: '01981b42-91c5-74d8-b36e-7f28c40d5ea1',
  cryptoWithdrawal: '019bc0fd-8ba2-7329-8f29-a8431be64c5f',
  fee: '019bc0fd-8ba2-718f-a18f-b7fd1380b125',
  suspenseDeposit: '019bc0fd-8ba2-71ac-95ac-1a47de95bed8',
  fiatAccountView: '019bc0fd-8ba2-7e21-9c40-2f64b1d05a37',
  operator: '01981b3e-2c07-7f19-a5d8-30e6c94b1f72',
  webhook: '019bc0fd-8ba2-73b4-b3b4-752715822c16',
} as const;

export const EXAMPLE_AT = '2026-01-15T09:30:00.482193Z';
export const EXAMPLE_LATER = '2026-01-15T09:30:02.107544Z';
export const EXAMPLE_NEXT_DAY = '2026-01-16T09:30:00.482193Z';
