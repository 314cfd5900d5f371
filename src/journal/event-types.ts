import { eventFamily } from '../kernel/event-types.ts';

/** For the owner of a profile that an operator credited or debited. */
export const JOURNAL_EVENTS = eventFamily('journal_entry', ['credited', 'debited']);
