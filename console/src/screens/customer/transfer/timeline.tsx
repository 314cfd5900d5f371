import type { components } from '@ferry/client';
import { words } from '~/lib/words.ts';
import { Id, type TimelineItem, toneOf } from '~/ui/index.ts';
import type { Transfer } from '../transfers/page.tsx';

type AuditEntry = components['schemas']['AuditEntry'];
type Entry = components['schemas']['Entry'];
type Delivery = components['schemas']['WebhookDelivery'];

function actorOf({ actor }: AuditEntry) {
  if (actor === undefined) return undefined;
  const { kind, id, name } = actor;
  const what = kind === 'CLI' ? 'command line' : words(kind).toLowerCase();
  if (name !== undefined) return `by ${name}`;
  const isUuid = id !== undefined && /^[0-9a-f-]{36}$/.test(id);
  return (
    <>
      by the {what} {isUuid ? <Id id={id} of={`id of the ${what}`} /> : id}
    </>
  );
}

/** A line of the audit log: the state of the transfer after it, and what it then waited for. */
function ofLog(entry: AuditEntry): TimelineItem {
  const after = entry.after as Partial<Transfer> | undefined;
  const { status = '', secondary_status: secondary, crypto_tx_hash: hash } = after ?? {};
  const hadHash = (entry.before as Partial<Transfer> | undefined)?.crypto_tx_hash;
  return {
    id: entry.id,
    at: entry.created_at,
    title: status === '' ? entry.action : words(status),
    tone: toneOf(status),
    by: actorOf(entry),
    children: (
      <>
        {secondary?.detail}
        {hash !== undefined && hash !== hadHash && (
          <p>
            Transaction <Id id={hash} of="transaction hash" />
          </p>
        )}
      </>
    ),
  };
}

function ofDelivery({
  id,
  created_at: at,
  status,
  attempts,
  event_type: type,
  error,
}: Delivery): TimelineItem {
  return {
    id,
    at,
    title: `Webhook ${type}`,
    tone: toneOf(status),
    by: `${words(status).toLowerCase()} after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`,
    children: error,
  };
}

export type History = {
  readonly log: readonly AuditEntry[];
  readonly deliveries: readonly Delivery[];
};

export const itemsOf = ({ log, deliveries }: History): TimelineItem[] =>
  [...log.map(ofLog), ...deliveries.map(ofDelivery)].sort((left, right) => (left.at < right.at ? -1 : 1));

/** Entries of the profile that this transfer caused. */
export const isOf =
  ({ id, group_id: group }: Transfer) =>
  ({ cause }: Entry): boolean =>
    cause.id === id || cause.id === group;
