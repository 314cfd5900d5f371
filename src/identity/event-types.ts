import { eventFamily } from '../kernel/event-types.ts';

export const MEMBER_EVENTS = eventFamily('account_member', ['added', 'removed']);
