import type { LogEntry } from '../events/log-store.ts';
import { NOBODY } from '../events/outbox.ts';
import { type Actor, presentActor } from '../kernel/actor.ts';
import { canonicalText } from '../kernel/canonical.ts';
import { formatInstant } from '../kernel/instant.ts';

/** Personal data is not shown: its digest tells whether it changed. */
export type DigestOf = (text: string) => string;

const REFUSED = '.refused';

type Json = Record<string, unknown>;

function resourceOf(entry: LogEntry | undefined, digestOf: DigestOf): Json | undefined {
  if (entry === undefined || entry.resource === '{}') return undefined;
  const resource = JSON.parse(entry.resource) as Json;
  return entry.isSealed ? { sealed_digest: digestOf(canonicalText(resource)) } : resource;
}

/** A customer sees its own actors and workers; of operators and of other customers, only what they are. */
function shownActor(actor: Actor, customerId: string | undefined) {
  const isShown = customerId === undefined || actor.kind === 'worker' || actor.customerId === customerId;
  const { kind, ...rest } = presentActor(actor);
  return isShown ? { kind, ...rest } : { kind };
}

export function presentAuditEntry(
  entry: LogEntry,
  before: LogEntry | undefined,
  digestOf: DigestOf,
  /** The customer who reads; undefined for operators. */
  customerId?: string,
) {
  const { type, actor } = entry;
  const isRefused = type.endsWith(REFUSED);
  const [was, is] = [before, isRefused ? undefined : entry].map((one) => resourceOf(one, digestOf));
  return {
    id: entry.id,
    action: isRefused ? type.slice(0, -REFUSED.length) : type,
    resource_type: type.split('.', 1)[0]!,
    resource_id: entry.resourceId,
    ...(entry.customerId !== NOBODY && { customer_id: entry.customerId }),
    outcome: isRefused ? ('REFUSED' as const) : ('DONE' as const),
    ...(actor && { actor: shownActor(actor, customerId) }),
    ...(was && !isRefused && { before: was }),
    ...(is && { after: is }),
    ...(isRefused && {
      refusal: JSON.parse(entry.resource) as { problem: string; detail: string; attempts: number },
    }),
    created_at: formatInstant(entry.atNs),
  };
}
