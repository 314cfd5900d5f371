import { appendTo } from '../database/binary.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Vault } from '../kernel/vault.ts';
import type { Table } from '../ledger/command.ts';
import { LIMITS } from '../limits.ts';
import { type ActorLines, addActorLine, noActorLines } from './actors.ts';
import { eventId, indexId } from './event.ts';
import { packLine, packText } from './pack.ts';
import { sealResource } from './sealed.ts';

/**
 * A change of state, appended in the transaction that makes it. Contains the resource as users see it after the change; empty
 * if there is none any more.
 */
export type EventRow = {
  readonly customerId: string;
  readonly type: string;
  readonly resourceId: string;
  readonly atNs: Instant;
  /** JSON, on one line. */
  readonly resource: string;
  /** The resource never has another event, and its own row names the batch. */
  readonly isOnly: boolean;
  /** The resource has personal data, and is sealed. */
  readonly isSealed: boolean;
  /** Only in the audit log: customers get no event. */
  readonly isRecord: boolean;
};

/** All events of a batch for one customer. */
type Group = {
  readonly batchId: string;
  readonly customerId: string;
  atNs: Instant;
  lines: number;
  lastLine: number;
  readonly types: string[];
  text: string;
  records: string;
  readonly actors: ActorLines;
};

const insertGroups = appendTo<Group>('event_groups', [
  { name: 'batch_id', type: 'uuid', value: (group) => group.batchId },
  { name: 'customer_id', type: 'uuid', value: (group) => group.customerId },
  { name: 'at_ns', type: 'bigint', value: (group) => group.atNs },
  { name: 'lines', type: 'integer', value: (group) => group.lines },
  { name: 'last_line', type: 'integer', value: (group) => group.lastLine },
  { name: 'types', type: 'text[]', value: (group) => group.types },
  { name: 'events', type: 'bytea', value: (group) => packText(group.text) },
  { name: 'records', type: 'bytea', value: (group) => packText(group.records) },
  { name: 'actors', type: 'bytea', value: (group) => Buffer.from(group.actors.text, 'utf8') },
]);

type ResourceRow = { readonly resourceId: string; readonly batchId: string };

const insertResources = appendTo<ResourceRow>('event_resources', [
  { name: 'resource_id', type: 'uuid', value: (row) => row.resourceId },
  { name: 'batch_id', type: 'uuid', value: (row) => row.batchId },
]);

const newGroup = (batchId: string, customerId: string, atNs: Instant): Group => ({
  batchId,
  customerId,
  atNs,
  lines: 0,
  lastLine: 0,
  types: [],
  text: '',
  records: '',
  actors: noActorLines(),
});

/** One group per customer, with lines in the order in which the events were decided, counted through the batch. */
function groupEvents(
  rows: readonly EventRow[],
  batchId: string,
  actors: readonly Actor[],
  vault: () => Vault,
): Group[] {
  const groups = new Map<string, Group>();
  let line = 0;
  // The events of one command have the same instant: it is formatted once.
  let lastAtNs: Instant | undefined;
  let atText = '';
  for (const { customerId, type, resourceId, atNs, resource, isSealed, isRecord } of rows) {
    let group = groups.get(customerId);
    if (group === undefined) {
      group = newGroup(batchId, customerId, atNs);
      groups.set(customerId, group);
    }
    if (atNs !== lastAtNs) {
      lastAtNs = atNs;
      atText = atNs.toString();
    }
    addActorLine(group.actors, line + 1, actors[line]!);
    line += 1;
    if (atNs > group.atNs) group.atNs = atNs;
    group.lastLine = line;
    const text = isSealed ? sealResource(vault(), eventId(batchId, line), resource) : resource;
    const packed = packLine(line, type, resourceId, atText, text);
    if (isRecord) {
      group.records += packed;
      continue;
    }
    group.lines += 1;
    if (!group.types.includes(type)) group.types.push(type);
    group.text += packed;
  }
  return [...groups.values()];
}

function resourcesOf(rows: readonly EventRow[], batchId: string): ResourceRow[] {
  const ids = new Set<string>();
  for (const { isOnly, resourceId } of rows) if (!isOnly) ids.add(indexId(resourceId));
  return Array.from(ids, (resourceId) => ({ resourceId, batchId }));
}

export const events: Table<EventRow> = {
  name: 'events',
  isLog: true,
  sendsAtOnce: true,
  write(tx, rows, batchId, actors = []) {
    // The write path then bisects the batch.
    if (rows.length > LIMITS.batchEventsMax) {
      throw new RangeError(
        `a batch has ${rows.length} events; event ids allow at most ${LIMITS.batchEventsMax}`,
      );
    }
    const resources = resourcesOf(rows, batchId);
    return Promise.all([
      insertGroups(tx, groupEvents(rows, batchId, actors, tx.vault)),
      resources.length > 0 ? insertResources(tx, resources) : undefined,
    ]);
  },
};
