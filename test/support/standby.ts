import { cp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectDatabase, type Database, type DatabaseAddress } from '../../src/database/database.ts';
import { findPackageDir, prepareBinaries } from '../../src/database/embedded/binaries.ts';
import { type Site, spawnServer } from '../../src/database/embedded/cluster.ts';
import {
  chooseSocketDir,
  findServerUser,
  giveTo,
  openDataDirTo,
  prepareDataDir,
  prepareSocketDir,
} from '../../src/database/embedded/files.ts';
import { type Postmaster, readPidFile, stopPostmaster } from '../../src/database/embedded/process.ts';
import { startEmbedded } from '../../src/database/embedded/server.ts';
import { migrate } from '../../src/database/migrate.ts';
import { makeDataDir, removeDataDir } from './process.ts';
import { until } from './until.ts';
import { connectUnlocked } from './vault.ts';

type Address = Extract<DatabaseAddress, { socketDir: string }>;

/** One of two real servers, and a connection to it for the test itself. */
export type Server = {
  readonly address: Address;
  readonly database: Database;
  /** As when the machine loses power. */
  kill(): Promise<void>;
  /** Starts a server that was killed. */
  start(): Promise<void>;
};

/** A primary whose commits wait for its standby, as production runs it. */
export type Pair = {
  readonly primary: Server;
  readonly standby: Server;
  /** Makes the standby a primary, on a new timeline. */
  promote(): Promise<void>;
  close(): Promise<void>;
};

const SETTINGS = { shared_buffers: '16MB', autovacuum: 'off', max_connections: '50' };
const STANDBY = 'test_standby';

export async function untilIsTrue(
  database: Database,
  condition: string,
  parameters: readonly string[] = [],
): Promise<void> {
  await until(condition, async () => {
    const [row] = await database.query<{ is_true: boolean }>(`select ${condition} as is_true`, parameters);
    return row!.is_true;
  });
}

/** A base backup of the primary's files. */
async function copyCluster(primary: Database, from: string, to: string): Promise<void> {
  const connection = await primary.reserve({ patient: true });
  await connection.query("select pg_backup_start('copy', true)");
  await cp(from, to, {
    recursive: true,
    preserveTimestamps: true,
    filter: (path) => !path.endsWith('postmaster.pid') && !path.endsWith('postmaster.opts'),
  });
  const [stopped] = await connection.query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
  connection.release();
  await writeFile(join(to, 'backup_label'), stopped!.labelfile);
}

async function siteOf(dataDirGiven: string): Promise<Site> {
  const dataDir = await prepareDataDir(dataDirGiven);
  const clusterDir = join(dataDir, 'postgres');
  const user = findServerUser(clusterDir);
  await openDataDirTo(dataDir, user);
  return {
    dataDir,
    clusterDir,
    logFile: join(dataDir, 'postgres.log'),
    socketDir: chooseSocketDir(dataDir, 5432),
    port: 5432,
    user,
    binaries: await prepareBinaries(findPackageDir(), dataDir, user),
    settings: { ...SETTINGS, hot_standby: 'on' },
  };
}

async function giveAll(directory: string, site: Site): Promise<void> {
  await giveTo(directory, site.user);
  for (const entry of await readdir(directory, { recursive: true }))
    await giveTo(join(directory, entry), site.user);
}

async function spawned(site: Site): Promise<Postmaster> {
  await prepareSocketDir(site.socketDir, site.user);
  await rm(join(site.clusterDir, 'postmaster.pid'), { force: true });
  const postmaster = await spawnServer(site);
  // A standby that accepts connections has another status.
  await until('the server takes connections', async () => {
    const status = readPidFile(site.clusterDir)?.status;
    return status === 'ready' || status === 'standby';
  });
  return postmaster;
}

/** A server on its site, which the test can kill and start. */
function serverOn(site: Site, first: Postmaster): Server & { stop(): Promise<void> } {
  const address = addressOf(site);
  const database = connectUnlocked(address, 4);
  let postmaster = first;
  async function kill(): Promise<void> {
    // The children of a killed postmaster end by themselves.
    process.kill(postmaster.pid, 'SIGKILL');
    await until('the server is gone', () => !postmaster.isRunning());
    await until('its connections are gone', async () =>
      database.query('select 1').then(
        () => false,
        () => true,
      ),
    );
  }
  return {
    address,
    database,
    kill,
    async start() {
      postmaster = await spawned(site);
    },
    async stop() {
      await database.close();
      if (postmaster.isRunning()) await stopPostmaster(postmaster, () => undefined);
    },
  };
}

export async function startPair(): Promise<Pair> {
  const [primaryDir, standbyDir] = [makeDataDir(), makeDataDir()];
  // Initialized by the service's own code, then run here without supervision, so that it stays dead when it is killed.
  const made = await startEmbedded({ dataDir: primaryDir, log: () => undefined, supervise: false });
  await made.stop();
  const primarySite = await siteOf(primaryDir);
  const administration = connectDatabase({ ...addressOf(primarySite), database: 'postgres' }, 1);
  const primaryMaster = await spawned(primarySite);
  await administration.query('create database ferry');
  await administration.close();
  const primary = serverOn(primarySite, primaryMaster);
  await migrate(primary.database);

  const standbySite = await siteOf(standbyDir);
  await copyCluster(primary.database, primarySite.clusterDir, standbySite.clusterDir);
  await writeFile(join(standbySite.clusterDir, 'standby.signal'), '');
  const { socketDir, port } = primarySite;
  const source = `host=${socketDir} port=${port} user=ferry application_name=${STANDBY}`;
  await writeFile(join(standbySite.clusterDir, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
  await giveAll(standbySite.clusterDir, standbySite);
  const standby = serverOn(standbySite, await spawned(standbySite));
  await primary.database.query(`alter system set synchronous_standby_names = '${STANDBY}'`);
  await primary.database.query('select pg_reload_conf()');
  await untilIsTrue(primary.database, `exists (select from pg_stat_replication where sync_state = 'sync')`);
  return {
    primary,
    standby,
    async promote() {
      await standby.database.query('select pg_promote()');
      await untilIsTrue(standby.database, 'not pg_is_in_recovery()');
    },
    async close() {
      await standby.stop();
      await primary.stop();
      await Promise.all([removeDataDir(primaryDir), removeDataDir(standbyDir)]);
    },
  };
}

function addressOf({ socketDir, port }: Site): Address {
  return { socketDir, port, user: 'ferry', database: 'ferry' };
}
