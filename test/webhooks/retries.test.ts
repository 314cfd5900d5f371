import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { OK } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { expectInOrder, HOUR, useDeliveries } from './delivery-support.ts';

const {
  database,
  clock: serverClock,
  newCustomer,
  startNode,
  receiver,
  createEndpoint,
  rows,
  allDelivered,
  emitOne,
  emitSteps,
  pass,
} = useDeliveries();

describe('time', () => {
  it('a receiver that is down for a day gets everything afterwards, in order, and other receivers are not delayed', async () => {
    newCustomer();
    const clock = { ms: Date.parse('2026-03-01T00:00:00Z') };
    const node = await startNode({ clock });
    const [down, good] = [await receiver(), await receiver()];
    down.behave((_, response) => response.writeHead(500).end());
    const downId = await createEndpoint(node, down.url);
    const goodId = await createEndpoint(node, good.url);
    await emitSteps(node, 100);
    await until('the working endpoint has them', () => allDelivered(goodId, 300));
    await until('the other one was tried', () => down.hits.length >= 10);
    for (let hour = 0; hour < 24; hour += 1) {
      if (hour % 6 === 5) await emitSteps(node, 5);
      for (let part = 0; part < 6; part += 1) await pass(node, clock, HOUR / 6);
    }
    await until('the working endpoint has the later ones', () => allDelivered(goodId, 360));
    // With the breaker open, a dead receiver costs about one request every ten minutes, and no more rows.
    expect(down.hits.length).toBeLessThan(250);
    expect((await rows(downId)).length).toBeLessThanOrEqual(300);
    expect(new Set(down.hits.map((hit) => hit.body.data.number))).toEqual(new Set([1]));
    const failed = down.hits.length;
    down.behave(OK);
    await pass(node, clock, 11 * 60_000);
    await until('all 360 have arrived', () => allDelivered(downId, 360));
    expectInOrder(down);
    expect(down.hits.length - failed).toBe(360);
    const [state] = await database().query<any>(
      'select failures, probe_at_ms from webhook_progress where endpoint_id = $1',
      [downId],
    );
    expect(state).toEqual({ failures: 0, probe_at_ms: null });
    await node.stop();
  });

  it('after three days deliveries are given up, and the endpoint is disabled with an event to the other endpoints', async () => {
    newCustomer();
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
      const [row] = await database().query<any>('select enabled from webhook_endpoints where id = $1', [
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
    await until('the other endpoint gets the event', () => good.hits.length === 7);
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
    await sleep(200);
    expect(dead.hits.length).toBe(count);
    await node.stop();
  });

  it('an event that the receiver always refuses delays only its own resource, and is given up after three days', async () => {
    newCustomer();
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
    newCustomer();
    const node = await startNode();
    const target = await receiver();
    target.behave((_, response) => response.writeHead(410).end());
    const id = await createEndpoint(node, target.url);
    await emitSteps(node, 1);
    await until('it is disabled', async () => {
      const [row] = await database().query<any>(
        'select enabled, disabled_reason from webhook_endpoints where id = $1',
        [id],
      );
      return row.enabled === false && row.disabled_reason.includes('410');
    });
    await node.stop();
  });
});

describe('a database whose clock went back by an hour', () => {
  it('does not delay a retry, neither of an idle endpoint nor of a busy one', async () => {
    newCustomer();
    const clock = { ms: Date.parse('2026-03-01T00:00:00Z') };
    const node = await startNode({ clock });
    const [idle, busy] = [await receiver(), await receiver()];
    for (const target of [idle, busy]) target.behave((_, response) => void response.writeHead(500).end());
    const ids = [await createEndpoint(node, idle.url), await createEndpoint(node, busy.url)];
    await emitOne(node);
    const tried = async (id: string): Promise<boolean> => (await rows(id))[0]?.attempts === 1;
    await until('both were tried', async () => (await tried(ids[0]!)) && (await tried(ids[1]!)));
    for (const target of [idle, busy]) target.behave(OK);
    const isStopped = new AbortController();
    const traffic = (async () => {
      while (!isStopped.signal.aborted) {
        await emitOne(node);
        await sleep(20);
      }
    })();
    clock.ms -= HOUR;
    const isDelivered = async (id: string): Promise<boolean> => (await rows(id))[0]?.status === 'DELIVERED';
    await until(
      'both have arrived',
      async () => (await isDelivered(ids[0]!)) && (await isDelivered(ids[1]!)),
    );
    isStopped.abort();
    await traffic;
    await node.stop();
  });

  it('does not delay the probe of a receiver that has recovered, and does not flood one that has not', async () => {
    newCustomer();
    const clock = { ms: Date.parse('2026-03-01T00:00:00Z') };
    const node = await startNode({ clock });
    const target = await receiver();
    target.behave((_, response) => void response.writeHead(500).end());
    const id = await createEndpoint(node, target.url);
    await emitSteps(node, 20);
    const probeAt = async (): Promise<number> => {
      const [row] = await database().query<{ at: bigint | null }>(
        'select probe_at_ms as at from webhook_progress where endpoint_id = $1',
        [id],
      );
      return Number(row!.at);
    };
    await until('the breaker is open', async () => (await probeAt()) > 0);
    clock.ms -= HOUR;
    const failed = target.hits.length;
    await until('it was probed', async () => (await probeAt()) < clock.ms + HOUR / 2);
    await sleep(200);
    expect(target.hits.length).toBeLessThan(failed + 20);
    target.behave(OK);
    clock.ms += 10 * 60_000;
    node.dispatcher.wake();
    await until('all have arrived', () => allDelivered(id, 60));
    expectInOrder(target);
    await node.stop();
  });

  it('does not keep other nodes from claiming the endpoint of a node that died', async () => {
    newCustomer();
    const target = await receiver();
    const before = await startNode();
    const id = await createEndpoint(before, target.url);
    await before.stop();
    const lease = 'update webhook_progress set lease_token = $2, leased_until_ms = $3 where endpoint_id = $1';
    await database().query(lease, [id, newId(), serverClock().nowMs() + HOUR]);
    const node = await startNode();
    await emitOne(node);
    await until('it has arrived', () => allDelivered(id, 1));
    await node.stop();
  });
});
