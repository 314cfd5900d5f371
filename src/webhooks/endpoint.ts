import { formatInstant, type Instant, NS_PER_MS } from '../kernel/instant.ts';

/** A URL at which a customer receives events. The store seals its secrets. */
export type Endpoint = {
  readonly id: string;
  readonly customerId: string;
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly description: string | null;
  readonly refId: string | null;
  readonly enabled: boolean;
  readonly disabledReason: string | null;
  readonly secret: string | null;
  readonly previousSecret: string | null;
  readonly previousUntilNs: Instant | null;
  readonly createdAtNs: Instant;
  readonly updatedAtNs: Instant;
  readonly deletedAtNs: Instant | null;
};

export const WEBHOOK_SPACE = 'webhooks';

/** As users see it. The secret is shown only in the answer that creates or rotates it. */
export function presentEndpoint(endpoint: Endpoint, now?: Instant) {
  const { description, refId, disabledReason, previousUntilNs, deletedAtNs } = endpoint;
  const overlaps = previousUntilNs !== null && (now === undefined || previousUntilNs > now);
  return {
    id: endpoint.id,
    url: endpoint.url,
    event_types: [...endpoint.eventTypes],
    enabled: endpoint.enabled,
    ...(description === null ? {} : { description }),
    ...(disabledReason === null ? {} : { disabled_reason: disabledReason }),
    ...(refId === null ? {} : { ref_id: refId }),
    ...(overlaps ? { previous_secret_expires_at: formatInstant(previousUntilNs) } : {}),
    created_at: formatInstant(endpoint.createdAtNs),
    updated_at: formatInstant(endpoint.updatedAtNs),
    ...(deletedAtNs === null ? {} : { deleted_at: formatInstant(deletedAtNs) }),
  };
}

/** The health of an endpoint: since when every attempt has failed, and when the next one is due. */
export type Standing = { readonly failingSinceMs: bigint | null; readonly nextTryMs: bigint | null };

/** Empty for a healthy endpoint. */
export function presentStanding(standing: Standing | undefined) {
  const { failingSinceMs = null, nextTryMs = null } = standing ?? {};
  return {
    ...(failingSinceMs === null ? {} : { failing_since: formatInstant(failingSinceMs * NS_PER_MS) }),
    ...(nextTryMs === null ? {} : { next_attempt_at: formatInstant(nextTryMs * NS_PER_MS) }),
  };
}

export function presentSecret({ secret }: Endpoint): { secret?: string } {
  return secret === null ? {} : { secret };
}

/** The secrets that sign at that time: both, for a while after a rotation. */
export function signingSecrets(endpoint: Endpoint, now: Instant): string[] {
  const { secret, previousSecret, previousUntilNs } = endpoint;
  const isOldValid = previousUntilNs !== null && previousUntilNs > now;
  return [secret, isOldValid ? previousSecret : null].filter((one) => one !== null);
}
