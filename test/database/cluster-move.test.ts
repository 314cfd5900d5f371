import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connectDatabase } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { newId } from '../../src/kernel/id.ts';
import { balancesOf } from '../../src/ledger/balances.ts';
import { addressOf, on, spreadOverCluster } from '../support/cluster.ts';
import { ON_CLUSTER, untilAuditable } from '../support/database.ts';
import { auditLines, fund, optimistic, pay, startNode, type TestNode } from '../support/ledger.ts';

describe.runIf(ON_CLUSTER)('a database that becomes that of a cluster', () => {
  const name = `test_${newId().replaceAll('-', '_')}`;
  const servers = inject('servers');
  const address = { ...inject('postgres'), database: name };
  const migrated = async (): Promise<void> => {
    const database = connectDatabase(address, 2, { connectTimeoutMs: 60_000 });
    await migrate(database, undefined, undefined, { servingRole: inject('servingRole') });
    await database.close();
  };
  const [alice, bob] = [newId(), newId()];

  const used = async (work: (node: TestNode) => Promise<void>): Promise<void> => {
    const node = startNode({ ...address, user: inject('servingRole') });
    try {
      await work(node);
    } finally {
      await node.stop();
    }
  };

  beforeAll(() => on(addressOf(servers[0]!, 'postgres'), `create database ${name}`));
  afterAll(async () => {
    for (const server of servers)
      await on(addressOf(server, 'postgres'), `drop database if exists ${name} with (force)`);
  });

  it('keeps what it has, and batches are decided on cached balances there', async () => {
    await migrated();
    await used(async ({ path }) => {
      for (const profile of [alice, bob]) await path.submit(fund(profile, 'USD', 10n));
      await path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
    });
    await spreadOverCluster({ servers }, name);
    await migrated();
    await used(async ({ path, database }) => {
      expect(database.shards()).toBeUndefined();
      for (const profile of [alice, bob]) await path.submit(fund(profile, 'USD', 1n));
      for (let count = 0; count < 3; count += 1) await path.submit(optimistic(pay(alice, bob, 'USD', 1n)));
      expect(database.shards()).toBeDefined();
      expect(path.troubles).toEqual([]);
      const available = async (profile: string) => (await balancesOf(database, profile))[0]!.available;
      expect([await available(alice), await available(bob)]).toEqual([7n, 15n]);
      await untilAuditable();
      expect(await auditLines(database)).toEqual([]);
    });
  });
});
