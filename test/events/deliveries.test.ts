import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { createServerClock, type ServerClock } from '../../src/database/server-clock.ts';
import { createSequencer } from '../../src/events/sequencer.ts';
import { newId } from '../../src/kernel/id.ts';
import { createWritePath } from '../../src/ledger/write-path.ts';
import { createEndpointCommand, disableEndpointCommand } from '../../src/webhooks/commands.ts';
import { createDispatcher, type Dispatcher } from '../../src/webhooks/dispatcher.ts';
import { createSealer } from '../../src/webhooks/secrets.ts';
import { createSender } from '../../src/webhooks/sender.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { assets } from '../support/ledger.ts';
import { OK, type Receiver, startReceiver } from './receiver.ts';
import { emit, until } from './support.ts';

const HOUR = 3_600_000;
const sealer = createSealer(Buffer.alloc(32, 7));
const quiet = { warn: () => undefined, info: () => undefined } as never;
let test: TestDatabase;
let database: Database;
let customerId: string;
let rightClock: ServerClock;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  test = await createTestDatabase();
  database = test.database;
  rightClock = await createServerClock(database, () => undefined);
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
  await test.drop();
});

/** A node with a clock that goes only when it is told to, unless it is the real one. */
async function startNode(options: { timeoutMs?: number; clock?: { ms: number }; log?: never } = {}) {
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
    sealer,
    sender: createSender({ reach: 'anywhere', timeoutMs: options.timeoutMs ?? 10_000 }),
    log: options.log ?? quiet,
    async disable({ id, customerId: owner }, reason) {
      await writePath.submit(disableEndpointCommand(owner, id, reason));
    },
    clock: { nowMs: () => options.clock?.ms ?? rightClock.nowMs() },
    timing: { pollMs: 50, stopMs: 100 },
  });
  await sequencer.start();
  dispatcher.start();
  const stop = async () => {
    await dispatcher.stop();
    await writePath.stop();
    await sequencer.stop();
  };
  return { writePath, dispatcher, stop };
}
type Node = Awaited<ReturnType<typeof startNode>>;

async function receiver(): Promise<Receiver> {
  const made = await startReceiver();
  closing.push(() => made.close());
  return made;
}

async function createEndpoint(node: Node, url: string): Promise<string> {
  const caller = {
    customerId,
    clientId: 'x',
    scopes: new Set<string>(),
    integration: 'FIRST_PARTY',
  } as const;
  const outcome = await node.writePath.submit(createEndpointCommand(caller, { url }, sealer));
  if (outcome.replayed) throw new Error('replayed');
  return outcome.answer.id;
}

type Row = { id: string; status: string; attempts: number; error: string | null; response: any };
async function rows(endpointId: string): Promise<Row[]> {
  return database.query<Row>(
    `select id, status, attempts, error, response from webhook_deliveries
     where endpoint_id = $1 order by position, line, created_at_ns`,
    [endpointId],
  );
}
const allDelivered = async (endpointId: string, count: number): Promise<boolean> =>
  (await rows(endpointId)).filter((row) => row.status === 'DELIVERED').length === count;

/** For each resource the numbers in the order in which they came: a repetition may come, but never a step back. */
function expectInOrder(target: Receiver): void {
  const last = new Map<string, number>();
  for (const { body } of target.hits) {
    const before = last.get(body.resource_id) ?? 0;
    expect(body.data.number).toBeGreaterThanOrEqual(before);
    expect(body.data.number).toBeLessThanOrEqual(before + 1);
    last.set(body.resource_id, body.data.number);
  }
}

/** Lets time pass, and waits until all that is due by then has been tried, however busy the machine is. */
async function pass(node: Node, clock: { ms: number }, milliseconds: number): Promise<void> {
  clock.ms += milliseconds;
  node.dispatcher.wake();
  await until('everything due was tried', async () => {
    const [row] = await database.query<{ busy: boolean }>(
      `select exists (
         select from webhook_progress p join webhook_endpoints w on w.id = p.endpoint_id
         join webhook_deliveries d on d.endpoint_id = p.endpoint_id
         where w.enabled and p.customer_id = $1 and d.status = 'PENDING'
           and case when p.probe_at_ms is null then d.due_at_ms <= $2 else p.probe_at_ms <= $2 end
           and not exists (select from webhook_deliveries b
                           where b.endpoint_id = d.endpoint_id and b.resource_id = d.resource_id and b.status = 'PENDING'
                             and (b.position, b.line) < (d.position, d.line))) as busy`,
      [customerId, clock.ms],
    );
    return !row!.busy;
  });
}

/** Three events for each of so many resources. */
async function emitSteps(node: Node, resources: number): Promise<void> {
  const ids = Array.from({ length: resources }, newId);
  for (const number of [1, 2, 3]) {
    await node.writePath.submit(
      emit(
        customerId,
        ids.map((resourceId) => ({ resourceId, data: { number } })),
      ),
    );
  }
}

/** A receiver below HTTP: does with the raw connection what it likes. */
async function rawReceiver(behave: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    behave(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
}

describe('a receiver that misbehaves', () => {
  /** What the bad one's first delivery shows after its first attempt. */
  async function beside(url: string): Promise<{ bad: Row; lagMs: number }> {
    customerId = newId();
    const node = await startNode({ timeoutMs: 700 });
    const good = await receiver();
    const badId = await createEndpoint(node, url);
    const goodId = await createEndpoint(node, good.url);
    await emitSteps(node, 20);
    const started = performance.now();
    await until('the good one has all', () => good.hits.length >= 60);
    const lagMs = performance.now() - started;
    expect(good.hits).toHaveLength(60);
    expectInOrder(good);
    await until('all are recorded', () => allDelivered(goodId, 60));
    await until('the bad one was tried', async () => ((await rows(badId))[0]?.attempts ?? 0) > 0);
    const [bad] = await rows(badId);
    await node.stop();
    return { bad: bad!, lagMs };
  }

  it('fails: the answer is kept, it is tried again, and the other endpoint does not notice', async () => {
    const target = await receiver();
    target.behave((_, response) => response.writeHead(503).end('down'));
    const { bad, lagMs } = await beside(target.url);
    expect(bad).toMatchObject({ status: 'PENDING', response: { status: 503, body: 'down' } });
    expect(lagMs).toBeLessThan(3_000);
  });

  it('hangs: it is cut off after the time-out', async () => {
    const { bad, lagMs } = await beside(await rawReceiver(() => undefined));
    expect(bad).toMatchObject({ status: 'PENDING', response: null, error: 'no answer within 700 ms' });
    expect(lagMs).toBeLessThan(3_000);
  });

  it('answers byte by byte: the time-out is for the whole answer', async () => {
    const text = 'HTTP/1.1 200 OK\r\nx-long: ';
    const url = await rawReceiver((socket) => {
      let at = 0;
      const timer = setInterval(() => socket.write(text[at++] ?? 'a'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    const { bad } = await beside(url);
    expect(bad).toMatchObject({ status: 'PENDING', response: null, error: 'no answer within 700 ms' });
  });

  it('redirects: the redirect is an answer like others, and is not followed', async () => {
    const [target, inner] = [await receiver(), await receiver()];
    target.behave((_, response) => response.writeHead(307, { location: inner.url }).end());
    const { bad } = await beside(target.url);
    expect(bad).toMatchObject({
      status: 'PENDING',
      response: { status: 307, headers: { location: inner.url } },
    });
    expect(inner.connections()).toBe(0);
  });

  it('sends a gigabyte: some of it is kept, the rest is never read', async () => {
    const target = await receiver();
    let sent = 0;
    target.behave((_, response) => {
      response.writeHead(200, { 'content-length': String(2 ** 30) });
      const chunk = Buffer.alloc(64 * 1024, 'x');
      const more = (): void => {
        while (!response.destroyed && sent < 2 ** 30) {
          sent += chunk.length;
          if (!response.write(chunk)) break;
        }
      };
      response.on('drain', more);
      more();
    });
    const { bad } = await beside(target.url);
    expect(bad).toMatchObject({ status: 'DELIVERED', response: { status: 200 } });
    expect(bad.response.body).toHaveLength(4_096);
    expect(sent).toBeLessThan(2 ** 30 / 4);
  });

  it('closes early: before the answer it has failed, after the status it has answered', async () => {
    const silent = await beside(await rawReceiver((socket) => socket.once('data', () => socket.destroy())));
    expect(silent.bad).toMatchObject({
      status: 'PENDING',
      response: null,
      error: expect.stringMatching(/socket|ECONN/),
    });
    const cut = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf';
    const half = await beside(
      await rawReceiver((socket) => socket.once('data', () => socket.write(cut, () => socket.destroy()))),
    );
    expect(half.bad).toMatchObject({ status: 'DELIVERED', response: { status: 200, body: 'half' } });
  });
});

describe('time', () => {
  it('a receiver that is down for a day gets everything afterwards, in order, and others are not late', async () => {
    customerId = newId();
    const clock = { ms: Date.parse('2026-03-01T00:00:00Z') };
    const node = await startNode({ clock });
    const [down, good] = [await receiver(), await receiver()];
    down.behave((_, response) => response.writeHead(500).end());
    const downId = await createEndpoint(node, down.url);
    const goodId = await createEndpoint(node, good.url);
    await emitSteps(node, 100);
    await until('the good one has them', () => allDelivered(goodId, 300));
    await until('the other one was tried', () => down.hits.length >= 10);
    for (let hour = 0; hour < 24; hour += 1) {
      if (hour % 6 === 5) await emitSteps(node, 5);
      for (let part = 0; part < 6; part += 1) await pass(node, clock, HOUR / 6);
    }
    await until('the good one has the later ones', () => allDelivered(goodId, 360));
    // With the breaker open, a dead receiver costs one request every ten minutes or so, and keeps no more rows.
    expect(down.hits.length).toBeLessThan(250);
    expect((await rows(downId)).length).toBeLessThanOrEqual(300);
    expect(new Set(down.hits.map((hit) => hit.body.data.number))).toEqual(new Set([1]));
    const failed = down.hits.length;
    down.behave(OK);
    await pass(node, clock, 11 * 60_000);
    await until('all 360 have come', () => allDelivered(downId, 360));
    expectInOrder(down);
    expect(down.hits.length - failed).toBe(360);
    const [state] = await database.query<any>(
      'select failures, probe_at_ms from webhook_progress where endpoint_id = $1',
      [downId],
    );
    expect(state).toEqual({ failures: 0, probe_at_ms: null });
    await node.stop();
  });

  it('after three days an event is given up, and the endpoint disabled with an event for the others', async () => {
    customerId = newId();
    const clock = { ms: Date.parse('2026-03-01T00:00:00Z') };
    const node = await startNode({ clock });
    const [dead, good] = [await receiver(), await receiver()];
    dead.behave((_, response) => response.writeHead(500).end());
    const deadId = await createEndpoint(node, dead.url);
    await createEndpoint(node, good.url);
    await emitSteps(node, 2);
    await until(
      'it was tried',
      async () => (await rows(deadId)).filter((row) => row.attempts > 0).length === 2,
    );
    const isEnabled = async (): Promise<boolean> => {
      const [row] = await database.query<any>('select enabled from webhook_endpoints where id = $1', [
        deadId,
      ]);
      return row.enabled;
    };
    let hours = 0;
    for (; hours < 80 && (await isEnabled()); hours += 1) {
      await pass(node, clock, HOUR);
    }
    expect(hours).toBeGreaterThanOrEqual(71);
    expect(hours).toBeLessThan(77);
    await until('the others are told', () => good.hits.length === 7);
    const { body } = good.hits.at(-1)!;
    expect(body).toMatchObject({
      type: 'webhook_endpoint.disabled',
      resource_id: deadId,
      data: {
        id: deadId,
        enabled: false,
        disabled_reason: expect.stringContaining('No delivery has succeeded'),
      },
    });
    const count = dead.hits.length;
    clock.ms += 24 * HOUR;
    node.dispatcher.wake();
    await new Promise((done) => setTimeout(done, 200));
    expect(dead.hits.length).toBe(count);
    await node.stop();
  });

  it('one event that the receiver never takes holds up only its own resource, and is given up after three days', async () => {
    customerId = newId();
    const clock = { ms: Date.parse('2026-03-01T00:00:00Z') };
    const node = await startNode({ clock });
    const target = await receiver();
    let poison = '';
    target.behave((hit, response) => {
      if (hit.body.data.number === 1 && poison === '') poison = hit.body.resource_id;
      response.writeHead(hit.body.resource_id === poison && hit.body.data.number === 1 ? 500 : 200).end();
    });
    const id = await createEndpoint(node, target.url);
    await emitSteps(node, 30);
    await until('all but its resource', () => allDelivered(id, 87));
    expect(
      target.hits.filter((hit) => hit.body.resource_id === poison).every((hit) => hit.body.data.number === 1),
    ).toBe(true);
    for (let hour = 0; hour < 74; hour += 1) {
      await pass(node, clock, HOUR);
    }
    await until('the two after it', () => allDelivered(id, 89));
    const failed = (await rows(id)).filter((row) => row.status === 'FAILED');
    expect(failed).toHaveLength(1);
    expect(failed[0]!.attempts).toBeGreaterThanOrEqual(12);
    expect(failed[0]!.attempts).toBeLessThanOrEqual(17);
    expectInOrder(target);
    await node.stop();
  });

  it('a receiver that answers 410 is disabled at once', async () => {
    customerId = newId();
    const node = await startNode();
    const target = await receiver();
    target.behave((_, response) => response.writeHead(410).end());
    const id = await createEndpoint(node, target.url);
    await emitSteps(node, 1);
    await until('it is disabled', async () => {
      const [row] = await database.query<any>(
        'select enabled, disabled_reason from webhook_endpoints where id = $1',
        [id],
      );
      return row.enabled === false && row.disabled_reason.includes('410');
    });
    await node.stop();
  });
});

describe('a database whose clock went back by an hour', () => {
  it('does not keep a retry waiting, neither for an endpoint that is idle nor for one that is busy', async () => {
    customerId = newId();
    const clock = { ms: Date.parse('2026-03-01T00:00:00Z') };
    const node = await startNode({ clock });
    const [idle, busy] = [await receiver(), await receiver()];
    for (const target of [idle, busy]) target.behave((_, response) => void response.writeHead(500).end());
    const ids = [await createEndpoint(node, idle.url), await createEndpoint(node, busy.url)];
    await node.writePath.submit(emit(customerId, [{}]));
    const tried = async (id: string): Promise<boolean> => (await rows(id))[0]?.attempts === 1;
    await until('both were tried', async () => (await tried(ids[0]!)) && (await tried(ids[1]!)));
    for (const target of [idle, busy]) target.behave(OK);
    const isStopped = new AbortController();
    const traffic = (async () => {
      while (!isStopped.signal.aborted) {
        await node.writePath.submit(emit(customerId, [{}]));
        await sleep(20);
      }
    })();
    clock.ms -= HOUR;
    const isDelivered = async (id: string): Promise<boolean> => (await rows(id))[0]?.status === 'DELIVERED';
    await until(
      'both came',
      async () => (await isDelivered(ids[0]!)) && (await isDelivered(ids[1]!)),
      30_000,
    );
    isStopped.abort();
    await traffic;
    await node.stop();
  });

  it('does not keep a receiver that is back waiting for its probe, and one that is not back is not flooded', async () => {
    customerId = newId();
    const clock = { ms: Date.parse('2026-03-01T00:00:00Z') };
    const node = await startNode({ clock });
    const target = await receiver();
    target.behave((_, response) => void response.writeHead(500).end());
    const id = await createEndpoint(node, target.url);
    await emitSteps(node, 20);
    const probeAt = async (): Promise<number> => {
      const [row] = await database.query<{ at: bigint | null }>(
        'select probe_at_ms as at from webhook_progress where endpoint_id = $1',
        [id],
      );
      return Number(row!.at);
    };
    await until('it is taken to be down', async () => (await probeAt()) > 0);
    clock.ms -= HOUR;
    const failed = target.hits.length;
    await until('it was probed', async () => (await probeAt()) < clock.ms + HOUR / 2);
    await sleep(500);
    expect(target.hits.length).toBeLessThan(failed + 20);
    target.behave(OK);
    clock.ms += 10 * 60_000;
    node.dispatcher.wake();
    await until('all came', () => allDelivered(id, 60));
    expectInOrder(target);
    await node.stop();
  });

  it('does not keep the endpoint of a node that died from the others', async () => {
    customerId = newId();
    const target = await receiver();
    const before = await startNode();
    const id = await createEndpoint(before, target.url);
    await before.stop();
    const lease = 'update webhook_progress set lease_token = $2, leased_until_ms = $3 where endpoint_id = $1';
    await database.query(lease, [id, newId(), rightClock.nowMs() + HOUR]);
    const node = await startNode();
    await node.writePath.submit(emit(customerId, [{}]));
    await until('it came', () => allDelivered(id, 1), 30_000);
    await node.stop();
  });
});

it('a fault on our side is tried again after a while, not at once and for ever', async () => {
  customerId = newId();
  const target = await receiver();
  target.behave((_, response) => void response.writeHead(500).end());
  const before = await startNode();
  const id = await createEndpoint(before, target.url);
  await before.writePath.submit(emit(customerId, [{}]));
  await until('it was tried', async () => (await rows(id))[0]?.attempts === 1);
  await before.stop();
  // What cannot be, so that the service cannot know what to do with it: an event that is not there.
  await database.query('update webhook_deliveries set event_id = $2, due_at_ms = 0 where endpoint_id = $1', [
    id,
    newId(),
  ]);
  const warnings: string[] = [];
  const log = { info: () => undefined, warn: (_: object, text: string) => warnings.push(text) } as never;
  const node = await startNode({ log });
  await until('it is said', () => warnings.length > 0);
  await sleep(1_000);
  await node.stop();
  expect(warnings).toEqual(['a delivery failed on our side']);
});

it('two nodes share an endpoint without doubling or reordering anything', async () => {
  customerId = newId();
  const nodes = await Promise.all([startNode(), startNode()]);
  const targets = await Promise.all(Array.from({ length: 6 }, receiver));
  const ids = await Promise.all(targets.map((target) => createEndpoint(nodes[0], target.url)));
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(nodes.map((node) => emitSteps(node, 20)));
    await new Promise((done) => setTimeout(done, 700));
  }
  for (const [index, target] of targets.entries()) {
    await until('all came', () => allDelivered(ids[index]!, 360));
    expect(target.hits).toHaveLength(360);
    expectInOrder(target);
  }
  await Promise.all(nodes.map((node) => node.stop()));
});
