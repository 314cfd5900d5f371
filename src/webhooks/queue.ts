import { isAfter } from '../events/event.ts';
import type { Delivery } from './delivery.ts';
import { dueMs } from './schedule.ts';

/** Pending deliveries of one endpoint, in order per resource: only the first one of each resource may be sent. */
export type Queue = {
  readonly size: number;
  add(deliveries: readonly Delivery[]): void;
  /** The first delivery of each resource, if it is due and not in flight; the oldest up to the limit. */
  ready(nowMs: number, limit: number): Delivery[];
  /** The delivery to probe with, whether it is due or not: the one that is due first, so that it is not always the same. */
  probe(): Delivery | undefined;
  /** When the next one is due; undefined if none may be sent that is not in flight. */
  nextDueMs(nowMs: number): number | undefined;
  start(delivery: Delivery): void;
  /** No longer in flight: waits for its next attempt, or is done, so that the next one of its resource can be sent. */
  end(delivery: Delivery, isDone: boolean): void;
  makeAllDue(): void;
  clear(): void;
};

export function createQueue(): Queue {
  const byResource = new Map<string, Delivery[]>();
  const busy = new Set<Delivery>();
  let size = 0;

  function* heads(): Generator<Delivery> {
    for (const [first] of byResource.values()) if (first !== undefined && !busy.has(first)) yield first;
  }

  return {
    get size() {
      return size;
    },
    add(deliveries) {
      for (const delivery of deliveries) {
        const pending = byResource.get(delivery.resourceId);
        if (pending === undefined) byResource.set(delivery.resourceId, [delivery]);
        else pending.push(delivery);
        size += 1;
      }
    },
    ready(nowMs, limit) {
      const due: Delivery[] = [];
      if (limit <= 0) return due;
      for (const head of heads()) if (dueMs(head, nowMs) <= nowMs) due.push(head);
      if (due.length <= limit) return due;
      return due.sort((a, b) => (isAfter(a, b) ? 1 : -1)).slice(0, limit);
    },
    probe() {
      let found: Delivery | undefined;
      for (const head of heads()) if (found === undefined || head.dueAtMs < found.dueAtMs) found = head;
      return found;
    },
    nextDueMs(nowMs) {
      let next: number | undefined;
      for (const head of heads()) {
        const headMs = dueMs(head, nowMs);
        if (next === undefined || headMs < next) next = headMs;
      }
      return next;
    },
    start: (delivery) => void busy.add(delivery),
    end(delivery, isDone) {
      busy.delete(delivery);
      if (!isDone) return;
      const pending = byResource.get(delivery.resourceId);
      if (pending?.[0] !== delivery) return;
      pending.shift();
      size -= 1;
      if (pending.length === 0) byResource.delete(delivery.resourceId);
    },
    makeAllDue() {
      for (const pending of byResource.values()) for (const delivery of pending) delivery.dueAtMs = 0;
    },
    clear() {
      byResource.clear();
      busy.clear();
      size = 0;
    },
  };
}
