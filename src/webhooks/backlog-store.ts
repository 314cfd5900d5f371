import { secondsSince } from '../database/backlog.ts';
import type { Queryable } from '../database/database.ts';
import type { Backlog } from '../kernel/capability.ts';
import { LIMITS } from '../limits.ts';

const ENDPOINTS = `webhook_endpoints w join webhook_progress p on p.endpoint_id = w.id`;

export const webhookBacklogs = (database: Queryable): Backlog[] => [
  {
    gauges: {
      ferry_webhook_endpoints: 'Endpoints by state: delivering, failing, or disabled',
    },
    labels: ['state'],
    read: () =>
      database.query(
        `with found as (
           select case when not w.enabled then 'disabled' when p.failing_since_ms is null then 'delivering'
                       else 'failing' end as state
           from ${ENDPOINTS} where w.deleted_at_ns is null limit ${LIMITS.backlogCountMax})
         select s.state, (select count(*)::integer from found where found.state = s.state) as ferry_webhook_endpoints
         from unnest(array['delivering', 'failing', 'disabled']) as s (state)`,
      ),
  },
  {
    gauges: {
      ferry_webhook_failing_seconds: 'How long the endpoint that has failed the longest has been failing',
      ferry_webhook_overdue_seconds:
        'How long a delivery to an endpoint that answers has been due: if this grows, no node delivers, or it cannot keep up',
    },
    // A replay is stored as due at time zero, so the time of its creation counts.
    read: () =>
      database.query(
        `select ${secondsSince(`select min(p.failing_since_ms) * 1000000 from ${ENDPOINTS} where w.enabled`)}
                  as ferry_webhook_failing_seconds,
                ${secondsSince(`select min(first.since_ns) from ${ENDPOINTS}, lateral (
                    select greatest(d.due_at_ms * 1000000, d.created_at_ns) as since_ns from webhook_deliveries d
                    where d.endpoint_id = p.endpoint_id and d.status = 'PENDING'
                    order by d.due_at_ms limit 1) as first
                  where w.enabled and p.probe_at_ms is null`)} as ferry_webhook_overdue_seconds`,
      ),
  },
];
