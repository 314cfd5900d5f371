import { setTimeout as sleep } from 'node:timers/promises';
import { vi } from 'vitest';
import { event } from '../../src/events/outbox.ts';
import type { EventType } from '../../src/kernel/event-types.ts';
import { newId } from '../../src/kernel/id.ts';
import type { Command } from '../../src/ledger/command.ts';
import type { TestCustomer } from '../support/service.ts';

/** On a busy machine everything takes longer; a test ends as soon as it can. */
const PATIENCE_MS = 60_000;
vi.setConfig({ testTimeout: 2 * PATIENCE_MS });

/** A command that only appends events, one for each resource and number given. */
export function emit(
  customerId: string,
  items: readonly { resourceId?: string; type?: string; data?: object }[],
): Command<void> {
  return {
    balances: [],
    decide: (view) => ({
      accepted: true,
      causeId: newId(),
      postings: [],
      writes: items.map(({ resourceId = newId(), type = 'transfer.test.completed', data = {} }, index) =>
        event(type as EventType, customerId, resourceId, view.now + BigInt(index), data),
      ),
      answer: undefined,
    }),
  };
}

export type Event = { id: string; type: string; created_at: string; resource_id: string; data: any };

/** Follows the feed with long polls until `enough` returns true. */
export async function follow(
  customer: TestCustomer,
  enough: (events: readonly Event[]) => boolean,
  query = '',
): Promise<Event[]> {
  const events: Event[] = [];
  let cursor = '';
  const deadline = performance.now() + PATIENCE_MS;
  while (!enough(events)) {
    if (performance.now() > deadline) throw new Error(`only ${events.length} events came`);
    const answer = await customer.call('GET', `/v2/events?wait_seconds=5&limit=500${query}${cursor}`);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    events.push(...answer.body.items);
    cursor = `&page_cursor=${answer.body.next_page_cursor}`;
  }
  return events;
}

export async function until(what: string, check: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`not within ${PATIENCE_MS} ms: ${what}`);
    await sleep(10);
  }
}
