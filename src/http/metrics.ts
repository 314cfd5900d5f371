import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { AuditReport } from '../ledger/audit.ts';
import { TROUBLES, type WritePathObserver } from '../ledger/write-path.ts';
import { createRequestTimes } from './request-times.ts';

/** What an operator watches. Names and labels are an interface: dashboards depend on them. */
export type Metrics = {
  readonly registry: Registry;
  readonly writePath: Omit<WritePathObserver, 'trouble'> & { trouble(what: string): void };
  request(route: string, method: string, status: number, seconds: number): void;
  audited(report: AuditReport, seconds: number): void;
  railCalled(rail: string, reach: 'reached' | 'unavailable'): void;
  webhookAttempted(isDelivered: boolean): void;
};

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'ferry_' });
  const registers = [registry];
  const requests = createRequestTimes(registry);
  const batches = new Histogram({
    name: 'ferry_ledger_batch_seconds',
    help: 'Time from the start of a batch to its last answer',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  });
  const sizes = new Histogram({
    name: 'ferry_ledger_batch_commands',
    help: 'Commands that shared one commit',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers,
  });
  const queue = new Gauge({
    name: 'ferry_ledger_queue_commands',
    help: 'Commands that wait for the next batch',
    registers,
  });
  const troubles = new Counter({
    name: 'ferry_ledger_troubles_total',
    help: 'Batches started anew, taken apart, cut off from the database, or with a faulty command',
    labelNames: ['what'] as const,
    registers,
  });
  const violations = new Gauge({
    name: 'ferry_audit_violations',
    help: 'Violations that the last audit of the ledger found: anything but 0 is an emergency',
    registers,
  });
  const audited = new Gauge({
    name: 'ferry_audit_last_run_timestamp_seconds',
    help: 'When the last audit ended',
    registers,
  });
  const auditSeconds = new Gauge({
    name: 'ferry_audit_seconds',
    help: 'How long the last audit took',
    registers,
  });
  const railCalls = new Counter({
    name: 'ferry_rail_calls_total',
    help: 'Withdrawals that were brought to a rail, or asked about, by whether it was to be reached',
    labelNames: ['rail', 'reach'] as const,
    registers,
  });
  const attempts = new Counter({
    name: 'ferry_webhook_attempts_total',
    help: 'Requests to webhook endpoints, by whether the endpoint took the event',
    labelNames: ['result'] as const,
    registers,
  });
  // From the start: whoever watches how much they grow would otherwise miss the first one.
  for (const what of TROUBLES) troubles.inc({ what }, 0);
  for (const result of ['delivered', 'failed'] as const) attempts.inc({ result }, 0);
  // Not 0: that would be a claim.
  violations.set(Number.NaN);
  return {
    registry,
    writePath: {
      batch(commands, milliseconds) {
        sizes.observe(commands);
        batches.observe(milliseconds / 1000);
      },
      queue: (length) => queue.set(length),
      trouble: (what) => troubles.inc({ what }),
    },
    request: requests.add,
    audited(report, seconds) {
      violations.set(report.violations.length);
      audited.setToCurrentTime();
      auditSeconds.set(seconds);
    },
    railCalled: (rail, reach) => railCalls.inc({ rail, reach }),
    webhookAttempted: (isDelivered) => attempts.inc({ result: isDelivered ? 'delivered' : 'failed' }),
  };
}
