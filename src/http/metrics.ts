import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { AuditReport } from '../ledger/audit.ts';
import { TROUBLES, type WritePathObserver } from '../ledger/write-path.ts';
import type { NodeMetrics } from '../nodes/metrics.ts';
import type { AdmissionOptions } from './admission.ts';
import { createRequestTimes } from './request-times.ts';

/** Metrics for operators. Names and labels are an interface: dashboards depend on them. */
export type Metrics = AdmissionOptions['metrics'] & {
  readonly registry: Registry;
  readonly writePath: Omit<WritePathObserver, 'trouble'> & { trouble(what: string): void };
  request(route: string, method: string, status: number, seconds: number): void;
  audited(report: AuditReport, seconds: number): void;
  railCalled(rail: string, reach: 'reached' | 'unavailable'): void;
  webhookAttempted(isDelivered: boolean): void;
  readonly nodes: NodeMetrics;
};

type Registers = Registry[];

function writePathMetrics(registers: Registers): Metrics['writePath'] {
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
    help: 'Commands in the queue for the next batch',
    registers,
  });
  const troubles = new Counter({
    name: 'ferry_ledger_troubles_total',
    help: 'Batches that were retried, bisected, in doubt or refused, and commands that failed because of a bug',
    labelNames: ['what'] as const,
    registers,
  });
  // Present from the start: otherwise a rate would miss the first increment.
  for (const what of TROUBLES) troubles.inc({ what }, 0);
  return {
    batch(commands, milliseconds) {
      sizes.observe(commands);
      batches.observe(milliseconds / 1000);
    },
    queue: (length) => queue.set(length),
    trouble: (what) => troubles.inc({ what }),
  };
}

function auditMetrics(registers: Registers): Metrics['audited'] {
  const violations = new Gauge({
    name: 'ferry_audit_violations',
    help: 'Violations that the last audit of the ledger found. Any value other than 0 is an emergency',
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
  // Not 0: no audit has run yet.
  violations.set(Number.NaN);
  return (report, seconds) => {
    violations.set(report.violations.length);
    audited.setToCurrentTime();
    auditSeconds.set(seconds);
  };
}

function admissionMetrics(registers: Registers): AdmissionOptions['metrics'] {
  const shed = new Counter({
    name: 'ferry_http_shed_total',
    help: 'Requests that were refused because of overload',
    labelNames: ['kind'] as const,
    registers,
  });
  const kinds = ['read', 'write'] as const;
  for (const kind of kinds) shed.inc({ kind }, 0);
  const children = { read: shed.labels('read'), write: shed.labels('write') };
  let secondsOf: (kind: (typeof kinds)[number]) => number = () => 0;
  const wait = new Gauge({
    name: 'ferry_http_wait_seconds',
    help: 'How long a request has to wait for its turn',
    labelNames: ['kind'] as const,
    registers,
    collect() {
      for (const kind of kinds) wait.set({ kind }, secondsOf(kind));
    },
  });
  return {
    requestShed: (kind) => children[kind].inc(),
    watchWaits(waitSeconds) {
      secondsOf = waitSeconds;
    },
  };
}

function nodeMetrics(registers: Registers): NodeMetrics {
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const handedOver = new Counter({
    name: 'ferry_node_handed_over_total',
    help: 'Transfers that this node handed over to the node that decides, by how that ended',
    labelNames: ['how'] as const,
    registers,
  });
  for (const how of ['replied', 'declined', 'lost'] as const) handedOver.inc({ how }, 0);
  const children = {
    replied: handedOver.labels('replied'),
    declined: handedOver.labels('declined'),
    lost: handedOver.labels('lost'),
  };
  const waited = counter(
    'ferry_node_handed_over_seconds_total',
    'Time that transfers took from being handed over to the reply, added up',
  );
  const taken = counter('ferry_node_taken_total', 'Transfers that other nodes handed over to this one');
  const lost = counter('ferry_node_link_losses_total', 'Links to the node that decides that were lost');
  const changes = counter('ferry_node_lease_changes_total', 'How often this node saw another node decide');
  const decides = new Gauge({
    name: 'ferry_node_decides',
    help: 'Whether this node decides: 1, or 0. Without a node link it is 0, and every node decides for itself',
    registers,
  });
  return {
    handedOver(how, milliseconds) {
      children[how].inc();
      waited.inc(milliseconds / 1000);
    },
    taken: () => taken.inc(),
    linkLost: () => lost.inc(),
    decidingNodeChanged(isSelf) {
      changes.inc();
      decides.set(isSelf ? 1 : 0);
    },
  };
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'ferry_' });
  const registers = [registry];
  const railCalls = new Counter({
    name: 'ferry_rail_calls_total',
    help: 'Calls of rails for withdrawals, by whether the rail was reached',
    labelNames: ['rail', 'reach'] as const,
    registers,
  });
  const attempts = new Counter({
    name: 'ferry_webhook_attempts_total',
    help: 'Requests to webhook endpoints, by whether the endpoint accepted the event',
    labelNames: ['result'] as const,
    registers,
  });
  for (const result of ['delivered', 'failed'] as const) attempts.inc({ result }, 0);
  return {
    registry,
    ...admissionMetrics(registers),
    writePath: writePathMetrics(registers),
    request: createRequestTimes(registry).add,
    audited: auditMetrics(registers),
    railCalled: (rail, reach) => railCalls.inc({ rail, reach }),
    nodes: nodeMetrics(registers),
    webhookAttempted: (isDelivered) => attempts.inc({ result: isDelivered ? 'delivered' : 'failed' }),
  };
}
