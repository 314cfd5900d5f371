import type { Vault } from '../kernel/vault.ts';

/**
 * Resources with personal data are sealed, each for its own event, before they are packed; see `eventFamily`. The type, the
 * time and the id of the resource stay readable, because the feed is filtered by them.
 */
const placeOf = (eventId: string): string => `event_groups.events:${eventId}`;

export function sealResource(vault: Vault, eventId: string, resource: string): string {
  return vault.seal(resource, placeOf(eventId));
}

/** The JSON of a resource begins with a brace, so it cannot be mistaken for a sealed text. */
export const isSealedResource = (stored: string): boolean => !stored.startsWith('{');

export function openResource(vault: () => Vault, eventId: string, stored: string): string {
  return isSealedResource(stored) ? vault().open(stored, placeOf(eventId)) : stored;
}
