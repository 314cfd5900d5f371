import type { components } from '@ferry/client';
import { words } from '~/lib/words.ts';
import { toneOf } from './badge.tsx';
import { Id } from './id.tsx';
import { Sentence } from './sentence.tsx';
import type { TimelineItem } from './timeline.tsx';

export type AuditEntry = components['schemas']['AuditEntry'];
type Actor = components['schemas']['Actor'];

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const isUuid = (text: string): boolean => UUID.test(text);

/** Who did something: the name if there is one, and what kind of actor it is. */
export function ActorName({ actor }: { readonly actor: Actor | undefined }) {
  if (actor === undefined) return <span className="text-quiet">the service</span>;
  const { kind, id, name } = actor;
  if (kind === 'WORKER') return <span title={id}>the service</span>;
  const what = kind === 'CLI' ? 'command line' : words(kind).toLowerCase();
  if (name !== undefined) return <span title={`${what} ${id ?? ''}`}>{name}</span>;
  return (
    <span>
      {what} {id !== undefined && (isUuid(id) ? <Id id={id} of={`id of the ${what}`} /> : id)}
    </span>
  );
}

type Stated = {
  readonly status?: string;
  readonly secondary_status?: { readonly name: string; readonly detail: string };
  readonly crypto_tx_hash?: string;
};

/** A line of the audit log about something that has a status, such as a transfer. */
export function timelineItemOf(entry: AuditEntry): TimelineItem {
  const [was, is] = [entry.before as Stated | undefined, entry.after as Stated | undefined];
  const { status = '', secondary_status: secondary, crypto_tx_hash: hash } = is ?? {};
  const title = entry.outcome === 'REFUSED' ? `Refused: ${entry.action}` : status === '' ? entry.action : '';
  return {
    id: entry.id,
    at: entry.created_at,
    title: title || (was === undefined ? `Requested, ${words(status).toLowerCase()}` : words(status)),
    tone: entry.outcome === 'REFUSED' ? 'bad' : toneOf(status),
    by: (
      <>
        by <ActorName actor={entry.actor} />
      </>
    ),
    children: (
      <>
        <Sentence text={entry.refusal?.detail ?? secondary?.detail} />
        {hash !== undefined && hash !== was?.crypto_tx_hash && (
          <p>
            Transaction <Id id={hash} of="transaction hash" />
          </p>
        )}
      </>
    ),
  };
}
