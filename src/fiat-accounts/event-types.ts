import { eventFamily } from '../kernel/event-types.ts';

export const FIAT_ACCOUNT_EVENTS = eventFamily('fiat_account', [
  'pending',
  'approved',
  'rejected',
  'deleted',
]);
export type FiatAccountEvent = keyof typeof FIAT_ACCOUNT_EVENTS.types;
