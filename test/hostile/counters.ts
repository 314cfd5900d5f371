import type { Plan } from './requests.ts';

/** What a run has done, so that a run that did nothing cannot pass. */
export type Counters = {
  sent: number;
  accepted: number;
  refused: number;
  /** Answered with 429 or 503 and a Retry-After, and sent again. */
  retried: number;
  /** Requests after which the database was compared, one by one or together. */
  compared: number;
  /** Sent while the whole platform was frozen. */
  frozen: number;
  /** Not judged, because it depends on the machine; but one that stands out is worth a look. */
  slowest: { readonly ms: number; readonly number: number; readonly what: string };
  readonly byKind: Record<string, number>;
  readonly acceptedByKind: Record<string, number>;
  readonly byAccess: Record<string, number>;
  readonly byStatus: Record<string, number>;
  /** Requests of each operation by the status of their answer. */
  readonly byOperation: Record<string, Record<string, number>>;
};

export function createCounters(): Counters {
  return {
    sent: 0,
    accepted: 0,
    refused: 0,
    retried: 0,
    compared: 0,
    frozen: 0,
    slowest: { ms: 0, number: 0, what: 'none' },
    byKind: {},
    acceptedByKind: {},
    byAccess: {},
    byStatus: {},
    byOperation: {},
  };
}

function add(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

export function count(counters: Counters, plan: Plan, status: number | undefined, ms: number): void {
  const { kind, access, operation, number } = plan;
  counters.sent += 1;
  if (ms > counters.slowest.ms) counters.slowest = { ms, number, what: `${operation.id}, ${kind}` };
  if (status !== undefined && status < 400) {
    counters.accepted += 1;
    add(counters.acceptedByKind, kind);
  } else counters.refused += 1;
  const name = String(status ?? 'none');
  add(counters.byKind, kind);
  add(counters.byAccess, access);
  add(counters.byStatus, name);
  counters.byOperation[operation.id] ??= {};
  add(counters.byOperation[operation.id]!, name);
}

/** Every count of a kind, the most frequent first. */
export function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .sort(([, one], [, other]) => other - one)
    .map(([name, number]) => `${name} ${number}`)
    .join(', ');
}
