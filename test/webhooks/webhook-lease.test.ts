import { expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { claimEndpoints, renewLease } from '../../src/webhooks/lease-store.ts';
import { until } from '../support/until.ts';
import { HOUR, useDeliveries } from './delivery-support.ts';

const deliveries = useDeliveries();

it('a lease that is renewed while the settings change gets the settings that belong to its generation', async () => {
  const database = deliveries.database();
  const node = await deliveries.startNode();
  const id = await deliveries.createEndpoint(node, 'http://127.0.0.1:9/before');
  // From here on only this test claims endpoints.
  await node.stop();
  await database.query(
    'update webhook_progress set more = true, leased_until_ms = 0, probe_at_ms = null where endpoint_id = $1',
    [id],
  );
  const token = newId();
  const claims = await claimEndpoints(database, { token, nowMs: Date.now(), leaseMs: HOUR, limit: 1 });
  expect(claims).toMatchObject([{ endpointId: id }]);
  const before = (await renewLease(database, id, token, HOUR))!;

  // As a command that changes an endpoint does, in the same order.
  const connection = await database.reserve();
  await connection.query('begin');
  await connection.query("update webhook_endpoints set url = 'http://127.0.0.1:9/after' where id = $1", [id]);
  await connection.query('update webhook_progress set generation = generation + 1 where endpoint_id = $1', [
    id,
  ]);
  const renewal = renewLease(database, id, token, HOUR);
  await until('the renewal waits for the change', async () => {
    const waiting = await database.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return waiting.length > 0;
  });
  await connection.query('commit');
  connection.release();
  const after = (await renewal)!;
  expect([after.generation, after.endpoint.url]).toEqual([
    before.generation + 1n,
    'http://127.0.0.1:9/after',
  ]);
});
