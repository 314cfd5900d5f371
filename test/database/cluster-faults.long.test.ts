import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEverything } from '../../src/ledger/audit.ts';
import { LIMITS } from '../../src/limits.ts';
import {
  addressOf,
  addToCluster,
  type Cluster,
  createOnCluster,
  findCluster,
  on,
} from '../support/cluster.ts';
import { assets } from '../support/ledger.ts';
import { foundRefIds, type Load, startLoad } from '../support/load.ts';
import { type Backup, findOwnServer, type OwnServer } from '../support/own-server.ts';
import {
  type FerryProcess,
  makeDataDir,
  removeDataDir,
  sandboxOf,
  startFerry,
  tokenFrom,
} from '../support/process.ts';
import { until } from '../support/until.ts';
import { connectUnlocked, unlockAsSandbox } from '../support/vault.ts';

/**
 * What happens to the servers of a cluster while transfers run. It needs a cluster on this machine, whose servers it kills and starts again,
 * and which no other test uses meanwhile, with `wal_level = logical` and, where the servers have that setting, `citus` among the
 * `output_plugin_libraries`:
 *
 *   FERRY_TEST_LONG=1 FERRY_TEST_DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres npx vitest run test/database/cluster-faults
 */
const given = process.env.FERRY_TEST_DATABASE_URL;
const cluster = given === undefined ? undefined : await findCluster({ url: given });
const own = await Promise.all((cluster?.servers ?? []).map(findOwnServer));
const servers = own.filter((one) => one !== undefined);
const canRun = servers.length > 2 && servers.length === own.length;
if (!canRun)
  console.warn(
    'NOT RUN: faults of a cluster. FERRY_TEST_DATABASE_URL must name a coordinator with two workers on this machine.',
  );

const NAME = 'ferry_cluster_faults';
/** The name of a prepared transaction has the process of its coordinator. */
const COORDINATORS = `select split_part(gid, '_', 3)::integer as pid from pg_prepared_xacts where database = '${NAME}'`;
const PREPARED = `select gid from pg_prepared_xacts where database = '${NAME}'`;

describe.runIf(canRun)('a cluster whose servers fail while transfers run', () => {
  const dataDir = makeDataDir();
  const coordinator = servers[0]!;
  const workers = servers.slice(1);
  const acknowledged = new Set<string>();
  const sent = new Set<string>();
  let node: FerryProcess;
  let loads: Load[] = [];
  let round = 0;

  /** A node that is given another server finds the coordinator. */
  const startNode = ({ server } = coordinator): Promise<FerryProcess> =>
    startFerry({
      DATABASE_URL: `postgres://postgres@${server}/${NAME}`,
      FERRY_DATA_DIR: dataDir,
    });
  const askCoordinator = (...statements: readonly string[]): Promise<object[]> =>
    on(addressOf(coordinator.server, NAME), ...statements);
  const preparedOn = async (some: readonly OwnServer[]): Promise<number> => {
    const found = await Promise.all(some.map(({ server }) => on(addressOf(server, 'postgres'), PREPARED)));
    return found.flat().length;
  };
  async function dropEverywhere(): Promise<void> {
    for (const { server } of servers) {
      const prepared = (await on(addressOf(server, 'postgres'), PREPARED)) as { gid: string }[];
      if (prepared.length > 0)
        await on(addressOf(server, NAME), ...prepared.map(({ gid }) => `rollback prepared '${gid}'`));
      await on(addressOf(server, 'postgres'), `drop database if exists ${NAME} with (force)`);
    }
  }

  beforeAll(async () => {
    await dropEverywhere();
    await createOnCluster({ servers: (cluster as Cluster).servers.slice(0, 2) }, NAME);
    node = await startNode();
  });
  afterAll(async () => {
    for (const load of loads) await load.stop();
    await node.end('SIGKILL');
    await dropEverywhere();
    await removeDataDir(dataDir);
  });

  /** Between profiles in several shards. */
  async function startLoads(): Promise<void> {
    round += 1;
    const [customer, counterparty] = sandboxOf(dataDir).customers;
    const token = await tokenFrom(node.url, customer!);
    const [from, ...more] = customer!.profiles.map(({ id }) => id);
    const targets = [...more, ...counterparty!.profiles.map(({ id }) => id)].slice(0, 3);
    loads = targets.map((to, index) =>
      startLoad({
        url: node.url,
        token,
        from: from!,
        to,
        writers: 6,
        someWithoutRefId: true,
        prefix: `${round}-${index}`,
      }),
    );
    await Promise.all(loads.map((load) => load.untilMore(50)));
  }

  async function stopLoads(answered = acknowledged): Promise<void> {
    for (const load of loads) {
      await load.stop();
      for (const refId of load.acknowledged) answered.add(refId);
      for (const refId of [...load.acknowledged, ...load.undecided]) sent.add(refId);
    }
    loads = [];
  }

  /** Every server knows how each transaction ended, and everything that was acknowledged is there, once. */
  async function endLoads(): Promise<void> {
    await stopLoads();
    await check(acknowledged);
  }

  async function check(expected: ReadonlySet<string>): Promise<void> {
    await until(
      'no server waits for the end of a transaction',
      async () => (await preparedOn(servers)) === 0,
    );
    const database = await unlockAsSandbox(connectUnlocked(addressOf(coordinator.server, NAME), 2));
    try {
      const found = await foundRefIds(database);
      expect([...expected].filter((refId) => !found.has(refId))).toEqual([]);
      expect([...found].filter(([refId, times]) => times !== 1 || !sent.has(refId))).toEqual([]);
      expect((await auditEverything(database, assets)).violations).toEqual([]);
    } finally {
      await database.close();
    }
  }

  function makeDirFor({ dataDirectory }: OwnServer): string {
    const directory = mkdtempSync(join(tmpdir(), 'ferry-copy-'));
    const { uid, gid } = statSync(dataDirectory);
    chownSync(directory, uid, gid);
    return directory;
  }
  const freePort = (): number => 20_000 + Math.floor(Math.random() * 10_000);

  const goesOn = (): Promise<unknown> => Promise.all(loads.map((load) => load.untilMore(50)));

  it('a server is added, and shards move to it', async () => {
    const { server } = workers[1]!;
    const counts = (): Promise<object[]> =>
      askCoordinator(
        `select count(*)::integer as shards from citus_shards where table_name = 'balances'::regclass group by nodeport order by nodeport`,
      );
    const [before] = (await counts()) as { shards: number }[];
    await startLoads();
    await addToCluster(coordinator.server, server, NAME);
    await askCoordinator(
      `select citus_rebalance_start(shard_transfer_mode => 'force_logical')`,
      'select citus_rebalance_wait()',
    );
    await goesOn();
    await endLoads();
    const half = { shards: before!.shards / 2 };
    expect(await counts()).toEqual([half, half]);
    await node.end('SIGTERM');
    node = await startNode(workers[1]);
    const limited = `select from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
      where d.datname = '${NAME}' and 'lock_timeout=${LIMITS.lockTimeoutMs}' = any (setconfig)`;
    expect(await on(addressOf(server, NAME), limited)).toHaveLength(1);
  });

  it('a worker is killed, and starts again', async () => {
    await startLoads();
    for (const worker of workers) {
      worker.kill();
      await worker.start();
      await goesOn();
    }
    await endLoads();
  });

  it('the coordinator is killed between its decision to commit and the workers, and starts again', async () => {
    await startLoads();
    for (let kill = 0; kill < 3; kill += 1) {
      // It has written the decision, and waits for a standby that there is not before it tells the workers.
      await askCoordinator(
        `alter system set synchronous_standby_names = 'nobody'`,
        'select pg_reload_conf()',
      );
      await until('a decision waits', async () => {
        const found = await Promise.all(
          workers.map(({ server }) => on(addressOf(server, 'postgres'), COORDINATORS)),
        );
        const pids = (found.flat() as { pid: number }[]).map(({ pid }) => pid);
        const waiting = `select from pg_stat_activity where wait_event = 'SyncRep' and pid = any ('{${pids.join()}}')`;
        return (await askCoordinator(waiting)).length > 0;
      });
      await askCoordinator('alter system reset synchronous_standby_names');
      coordinator.kill();
      expect(await preparedOn(workers)).toBeGreaterThan(0);
      await coordinator.start();
      await goesOn();
    }
    await endLoads();
  });

  it('a node is killed while its transactions are being committed', async () => {
    for (let kill = 0; kill < 5; kill += 1) {
      await startLoads();
      await until('workers have prepared', async () => (await preparedOn(workers)) > 0, 0);
      await node.end('SIGKILL');
      await endLoads();
      node = await startNode(servers[kill % servers.length]);
    }
  });

  /** That the shards have changed, and how they are now. */
  async function untilTheNodeKnows(change: () => Promise<unknown>): Promise<void> {
    const stale = async (): Promise<string> =>
      /^ferry_ledger_troubles_total\{what="stale-cache"\} .*$/m.exec(
        await (await fetch(`${node.url}/metrics`)).text(),
      )![0];
    const before = await stale();
    await change();
    await until('a batch was refused', async () => (await stale()) !== before);
    await until('batches are decided on cached balances again', async () => {
      const known = await stale();
      // With the shards that it knew, a batch would have been refused meanwhile.
      await sleep(2 * LIMITS.optimisticBackOffMaxMs);
      await goesOn();
      return (await stale()) === known;
    });
  }

  it('shards move to another server, and the node finds out', async () => {
    await startLoads();
    const shards = (await askCoordinator(
      `select shardid::integer as id, nodename as host, nodeport as port from citus_shards
       where table_name = 'balances'::regclass order by shardid`,
    )) as { id: number; host: string; port: number }[];
    expect(shards.length).toBeGreaterThan(3);
    const move = (shard: number, mode: string): Promise<unknown> => {
      const { id, host, port } = shards[shard]!;
      const other = workers.find(({ server }) => server !== `${host}:${port}`)!;
      const [otherHost, otherPort] = other.server.split(':');
      return askCoordinator(
        `select citus_move_shard_placement(${id}, '${host}', ${port}, '${otherHost}', ${otherPort}, '${mode}')`,
      );
    };
    await untilTheNodeKnows(() => move(0, 'force_logical'));
    await untilTheNodeKnows(() => move(1, 'block_writes'));
    // Nothing is left of it where it was.
    await untilTheNodeKnows(async () => {
      await stopLoads();
      await move(2, 'force_logical');
      await move(3, 'force_logical');
      await askCoordinator('call citus_cleanup_orphaned_resources()');
      await startLoads();
    });
    await endLoads();
    expect(acknowledged.size).toBeGreaterThan(1_000);
  });

  it('shards are split, and the node finds out', async () => {
    await startLoads();
    const shards = (await askCoordinator(
      `select s.shardid::integer as id, (shardminvalue::bigint + shardmaxvalue::bigint) / 2 as middle, n.nodeid as node
       from pg_dist_shard s join pg_dist_placement p using (shardid) join pg_dist_node n using (groupid)
       where logicalrelid = 'balances'::regclass order by shardid limit 2`,
    )) as { id: number; middle: bigint; node: number }[];
    for (const [index, mode] of ['block_writes', 'force_logical'].entries()) {
      const { id, middle, node: place } = shards[index]!;
      await untilTheNodeKnows(() =>
        askCoordinator(
          `select citus_split_shard_by_split_points(${id}, array['${middle}'], array[${place}, ${place}], '${mode}')`,
        ),
      );
    }
    const { id: profile } = sandboxOf(dataDir).customers[0]!.profiles[0]!;
    await untilTheNodeKnows(() =>
      askCoordinator(
        `select isolate_tenant_to_new_shard('balances', '${profile}', 'CASCADE', shard_transfer_mode => 'block_writes')`,
      ),
    );
    await endLoads();
  });

  it('all servers are restored as they were at one moment', async () => {
    const point = `ferry_${Date.now()}`;
    await startLoads();
    const backups: Backup[] = [];
    const directories = servers.map(makeDirFor);
    for (const [index, server] of servers.entries())
      backups.push(await server.backUpTo(point, directories[index]!, freePort()));
    await goesOn();
    const before = new Set([...acknowledged, ...loads.flatMap((load) => [...load.acknowledged])]);
    await askCoordinator(`select citus_create_restore_point('${point}')`);
    await goesOn();
    await Promise.all(backups.map((backup) => backup.reached()));
    await endLoads();
    const after = acknowledged.size;
    await node.end('SIGTERM');
    for (const server of servers) server.kill();
    const restored: OwnServer[] = [];
    try {
      await until('all servers have ended', () => !servers.some((server) => server.isRunning()));
      for (const backup of backups) restored.push(await backup.restore());
      await askCoordinator('select recover_prepared_transactions()');
      await check(before);
      expect(before.size).toBeLessThan(after);
      node = await startNode();
      await startLoads();
      await stopLoads(before);
      await check(before);
      await node.end('SIGTERM');
    } finally {
      for (const one of restored) one.kill();
      await until('the restored servers have ended', () => !restored.some((one) => one.isRunning()));
      for (const server of servers) await server.start();
      for (const directory of directories) rmSync(directory, { recursive: true, force: true });
      node = await startNode();
    }
    await check(acknowledged);
  });

  it('a worker fails over to its copy', async () => {
    const [worker] = workers;
    const directory = makeDirFor(worker!);
    await startLoads();
    const port = freePort();
    const copy = await worker!.copy(directory, port);
    const [host, ownPort] = worker!.server.split(':');
    try {
      await goesOn();
      worker!.kill();
      await on(addressOf(copy.server, 'postgres'), 'select pg_promote()');
      const [row] = (await askCoordinator(
        `select nodeid from pg_dist_node where nodename = '${host}' and nodeport = ${ownPort}`,
      )) as { nodeid: number }[];
      await askCoordinator(`select citus_update_node(${row!.nodeid}, '${host}', ${port}, true)`);
      await goesOn();
      servers.splice(servers.indexOf(worker!), 1, copy);
      await endLoads();
    } finally {
      copy.kill();
      await worker!.start();
      await on(
        addressOf(worker!.server, 'postgres'),
        'alter system reset synchronous_standby_names',
        'select pg_reload_conf()',
      );
      servers.splice(servers.indexOf(copy), 1, worker!);
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
