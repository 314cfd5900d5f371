import { setTimeout as sleep } from 'node:timers/promises';
import { event } from '../../src/events/outbox.ts';
import type { EventType } from '../../src/kernel/event-types.ts';
import { newId } from '../../src/kernel/id.ts';
import type { Command } from '../../src/ledger/command.ts';
import type { TestCustomer } from '../support/service.ts';

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

/** Follows the feed with long polls until `enough` says so. */
export async function follow(
  customer: TestCustomer,
  enough: (events: readonly Event[]) => boolean,
  query = '',
): Promise<Event[]> {
  const events: Event[] = [];
  let cursor = '';
  const deadline = Date.now() + 60_000;
  while (!enough(events)) {
    if (Date.now() > deadline) throw new Error(`only ${events.length} events came`);
    const answer = await customer.call('GET', `/v2/events?wait_seconds=5&limit=500${query}${cursor}`);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    events.push(...answer.body.items);
    cursor = `&page_cursor=${answer.body.next_page_cursor}`;
  }
  return events;
}

export async function until(
  what: string,
  check: () => Promise<boolean> | boolean,
  ms = 20_000,
): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`it never came about that ${what}`);
    await sleep(10);
  }
}
