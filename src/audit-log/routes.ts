import type { Database, Queryable } from '../database/database.ts';
import { type LogFilter, readLog, resourcesBefore } from '../events/log-store.ts';
import { type NamedPage, pageText, readPage } from '../kernel/paging.ts';
import { type Route, route } from '../kernel/route.ts';
import { type DigestOf, presentAuditEntry } from './entry.ts';
import { AUDIT_ENTRY } from './examples.ts';
import { AuditList, AuditQuery, OperatorAuditQuery } from './schema.ts';

export type AuditLogDependencies = {
  readonly database: Database;
  readonly digestOf: DigestOf;
  /** Batches of resources whose own rows name them. */
  readonly batchesOf: NonNullable<LogFilter['batchesOf']>;
};

const LINE = /^[0-9]{1,5}$/;
const isLine = (text: string | undefined): text is string => text !== undefined && LINE.test(text);

const DESCRIPTION =
  'Every change, with who made it, from where and with which request, and the resource before and after it; and refused attempts at privileged actions. Secrets and personal data are shown as digests. The log is append-only.';

type Query = {
  readonly ids?: readonly string[];
  readonly actor_ids?: readonly string[];
  readonly actions?: readonly string[];
  readonly resource_ids?: readonly string[];
};

/** A page of the log. The place of an entry is its position and its line: cursors have both. */
async function pageOfLog(
  { digestOf, batchesOf }: AuditLogDependencies,
  database: Queryable,
  query: Query,
  page: NamedPage,
  customer: { readonly filter?: string | undefined; readonly reader?: string },
): Promise<string> {
  const { actor_ids: actorIds, actions, resource_ids: resourceIds } = query;
  const { after, descending, limit, ranges } = page;
  const filter = {
    ids: query.ids,
    customerId: customer.filter,
    actorIds,
    types: actions,
    resourceIds,
    batchesOf,
    ranges,
  };
  const start = after && { position: after.ns, line: Number(after.id) };
  const { entries, brokenOffAt } = await readLog(database, filter, start, { descending, limit });
  const before = await resourcesBefore(database, entries.slice(0, limit));
  const rows = entries.map((entry, index) => ({
    id: `${entry.line}`,
    createdAtNs: entry.position,
    text: () => JSON.stringify(presentAuditEntry(entry, before[index], digestOf, customer.reader)),
  }));
  const end = brokenOffAt && { ns: brokenOffAt.position, id: `${brokenOffAt.line}` };
  return pageText({ rows, ...(end && { brokenOffAt: end }) }, page, (row) => row.text());
}

export function auditLogRoutes(dependencies: AuditLogDependencies): Route[] {
  const { database } = dependencies;
  return [
    route({
      method: 'GET',
      path: '/v2/operator/audit-log',
      operationId: 'listOperatorAuditLog',
      tag: 'Operator',
      summary: 'Read the audit log',
      description: `${DESCRIPTION} Of all customers.`,
      scope: 'operator:read',
      query: OperatorAuditQuery,
      response: AuditList,
      problems: [],
      answer: { items: [AUDIT_ENTRY] },
      async handle({ query }) {
        const page = readPage(query, 'operator-audit-log', isLine);
        const customer = { filter: query.customer_id };
        return { body: await pageOfLog(dependencies, database, query, page, customer) };
      },
    }),
    route({
      method: 'GET',
      path: '/v2/audit-log',
      operationId: 'listAuditLog',
      tag: 'Control',
      summary: 'Read the audit log of your customer',
      description: `${DESCRIPTION} Of operators and of other customers, only the kind of the actor is shown.`,
      scope: 'control:read_audit_log',
      query: AuditQuery,
      response: AuditList,
      problems: [],
      answer: { items: [AUDIT_ENTRY] },
      async handle({ caller: { customerId }, query }) {
        const page = readPage(query, 'audit-log', isLine);
        const customer = { filter: customerId, reader: customerId };
        const own = database.of(customerId);
        return { body: await pageOfLog(dependencies, own, query, page, customer) };
      },
    }),
  ];
}
