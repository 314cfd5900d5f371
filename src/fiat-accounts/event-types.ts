import { eventFamily } from '../kernel/event-types.ts';

/** Sealed: they have the name and the address of the owner. */
export const FIAT_ACCOUNT_EVENTS = eventFamily(
  'fiat_account',
  ['pending', 'approved', 'rejected', 'deleted'],
  true,
);
export type FiatAccountEvent = keyof typeof FIAT_ACCOUNT_EVENTS.types;
