import { afterAll, beforeAll, expect } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { createServerClock, type ServerClock } from '../../src/database/server-clock.ts';
import { createSequencer } from '../../src/events/sequencer.ts';
import { newId } from '../../src/kernel/id.ts';
import { createWritePath, type WritePath } from '../../src/ledger/write-path.ts';
import { openJson } from '../../src/sealing/columns.ts';
import { createEndpointCommand, disableEndpointCommand } from '../../src/webhooks/commands.ts';
import { createDispatcher, type Dispatcher } from '../../src/webhooks/dispatcher.ts';
import { createSender, type Sender } from '../../src/webhooks/sender.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { emit } from '../support/events.ts';
import { assets } from '../support/ledger.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { testVault } from '../support/vault.ts';

export const HOUR = 3_600_000;
const quiet = { warn: () => undefined, info: () => undefined } as never;

export type Node = { writePath: WritePath; dispatcher: Dispatcher; stop(): Promise<void> };
export type Row = { id: string; status: string; attempts: number; error: string | null; response: any };
type NodeOptions = {
  /** A receiver with a short timeout. All others have a minute. */
  impatient?: { url: string; timeoutMs: number };
  /** A clock that only the test moves. */
  clock?: { ms: number };
  log?: never;
};

function createTestSender(impatient: NodeOptions['impatient']): Sender {
  const patient = createSender({ reach: 'anywhere', timeoutMs: 60_000 });
  if (impatient === undefined) return patient;
  const hasty = createSender({ reach: 'anywhere', timeoutMs: impatient.timeoutMs });
  return {
    ...patient,
    post: (url, headers, body) => (url === impatient.url ? hasty : patient).post(url, headers, body),
    close() {
      patient.close();
      hasty.close();
    },
  };
}

/** The numbers of each resource arrive in order. A number may be repeated, but none is skipped and none comes after a later one. */
export function expectInOrder(target: Receiver): void {
  const last = new Map<string, number>();
  for (const { body } of target.hits) {
    const before = last.get(body.resource_id) ?? 0;
    expect(body.data.number).toBeGreaterThanOrEqual(before);
    expect(body.data.number).toBeLessThanOrEqual(before + 1);
    last.set(body.resource_id, body.data.number);
  }
}

/** A database and nodes that deliver its events, set up and torn down with the test file that calls this. */
export function useDeliveries() {
  let test: TestDatabase;
  let clock: ServerClock;
  let customerId = newId();
  const closing: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    test = await createTestDatabase();
    clock = await createServerClock(test.database, () => undefined);
  });
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
    await test.drop();
  });

  async function rows(endpointId: string): Promise<Row[]> {
    const found = await test.database.query<Row>(
      `select id, status, attempts, error, response from webhook_deliveries
       where endpoint_id = $1 order by position, line, created_at_ns`,
      [endpointId],
    );
    const place = (id: string): string => `webhook_deliveries.response:${id}`;
    return found.map((row) => ({ ...row, response: openJson(testVault, row.response, place(row.id)) }));
  }

  return {
    database: (): Database => test.database,
    clock: (): ServerClock => clock,
    closeAtEnd: (close: () => Promise<unknown>): void => void closing.push(close),
    /** The customer of all endpoints and events from now on. */
    newCustomer(): void {
      customerId = newId();
    },
    async startNode(options: NodeOptions = {}): Promise<Node> {
      const { database } = test;
      let dispatcher: Dispatcher;
      const sequencer = createSequencer({ database, log: quiet, grown: (ids) => dispatcher.wake(ids) });
      const observer = {
        batch: () => undefined,
        queue: () => undefined,
        trouble: () => undefined,
        committed: () => sequencer.wake(),
      };
      const writePath = createWritePath({ database, assets, observer });
      dispatcher = createDispatcher({
        database,
        sender: createTestSender(options.impatient),
        log: options.log ?? quiet,
        async disable({ id, customerId: owner }, reason) {
          await writePath.submit(disableEndpointCommand(owner, id, reason));
        },
        clock: { nowMs: () => options.clock?.ms ?? clock.nowMs() },
        timing: { pollMs: 50, stopMs: 100, lingerMs: 100 },
      });
      await sequencer.start();
      dispatcher.start();
      return {
        writePath,
        dispatcher,
        async stop() {
          await dispatcher.stop();
          await writePath.stop();
          await sequencer.stop();
        },
      };
    },
    async receiver(): Promise<Receiver> {
      const made = await startReceiver();
      closing.push(() => made.close());
      return made;
    },
    async createEndpoint(node: Node, url: string): Promise<string> {
      const caller = {
        customerId,
        clientId: 'x',
        scopes: new Set<string>(),
        integration: 'FIRST_PARTY',
      } as const;
      const outcome = await node.writePath.submit(createEndpointCommand(caller, { url }));
      if (outcome.replayed) throw new Error('replayed');
      return outcome.answer.id;
    },
    rows,
    allDelivered: async (endpointId: string, count: number): Promise<boolean> =>
      (await rows(endpointId)).filter((row) => row.status === 'DELIVERED').length === count,
    async emitOne(node: Node): Promise<void> {
      await node.writePath.submit(emit(customerId, [{}]));
    },
    /** Three events for each of that many resources. */
    async emitSteps(node: Node, resources: number): Promise<void> {
      const ids = Array.from({ length: resources }, newId);
      for (const number of [1, 2, 3]) {
        const items = ids.map((resourceId) => ({ resourceId, data: { number } }));
        await node.writePath.submit(emit(customerId, items));
      }
    },
    /** Advances the clock, and waits until everything that is due by then was tried. */
    async pass(node: Node, ticking: { ms: number }, milliseconds: number): Promise<void> {
      ticking.ms += milliseconds;
      node.dispatcher.wake();
      await until('everything due was tried', async () => {
        const [row] = await test.database.query<{ busy: boolean }>(
          `select exists (
             select from webhook_progress p join webhook_endpoints w on w.id = p.endpoint_id
             join webhook_deliveries d on d.endpoint_id = p.endpoint_id
             where w.enabled and p.customer_id = $1 and d.status = 'PENDING'
               and case when p.probe_at_ms is null then d.due_at_ms <= $2 else p.probe_at_ms <= $2 end
               and not exists (select from webhook_deliveries b
                               where b.endpoint_id = d.endpoint_id and b.resource_id = d.resource_id
                                 and b.status = 'PENDING' and (b.position, b.line) < (d.position, d.line))) as busy`,
          [customerId, ticking.ms],
        );
        return !row!.busy;
      });
    },
  };
}
