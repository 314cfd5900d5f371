import { eventFamily } from '../kernel/event-types.ts';

export const WEBHOOK_EVENTS = eventFamily('webhook_endpoint', ['disabled', 'test']);

/** Sent to one endpoint on demand. Other endpoints never receive it, whatever their filter. */
export const TEST_EVENT = WEBHOOK_EVENTS.types.test;
export const DISABLED_EVENT = WEBHOOK_EVENTS.types.disabled;
