import { eventFamily } from '../kernel/event-types.ts';

export const CONVERSION_EVENTS = eventFamily('conversion', ['settled']);
