import { appendFileSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectDatabase, type Database, type DatabaseAddress } from '../../src/database/database.ts';
import { type EmbeddedServer, startEmbedded } from '../../src/database/embedded.ts';
import { findPackageDir, prepareBinaries } from '../../src/database/embedded-binaries.ts';
import { type Site, spawnServer } from '../../src/database/embedded-cluster.ts';
import {
  findServerUser,
  giveTo,
  openDataDirTo,
  prepareSocketDir,
} from '../../src/database/embedded-files.ts';
import { stopPostmaster } from '../../src/database/embedded-process.ts';
import { makeDataDir } from './process.ts';

export type Standby = {
  readonly socketPath: string;
  readonly database: Database;
  /** Makes it a primary, and resolves when it is one. */
  promote(): Promise<void>;
  stop(): Promise<void>;
};

/** A server of its own, beside the one of the test run: it is going to be stopped. */
export async function startPrimary(): Promise<{
  readonly server: EmbeddedServer;
  readonly address: Extract<DatabaseAddress, { socketDir: string }>;
  stop(): Promise<void>;
}> {
  const dataDir = makeDataDir();
  const server = await startEmbedded({ dataDir, log: () => undefined, supervise: false });
  const { socketDir, port, user } = server;
  const administration = connectDatabase({ socketDir, port, user, database: 'postgres' }, 1);
  await administration.query('create database ferry');
  await administration.close();
  return {
    server,
    address: { socketDir, port, user, database: 'ferry' },
    async stop() {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A copy of the primary, made while that one runs, which follows it until it is promoted. */
export async function startStandby(
  primary: Extract<DatabaseAddress, { socketDir: string }>,
): Promise<Standby> {
  const dataDir = makeDataDir();
  const [clusterDir, socketDir] = [join(dataDir, 'postgres'), join(dataDir, 'socket')];
  const source = join(primary.socketDir, '..', 'postgres');
  const user = findServerUser(source);
  await openDataDirTo(dataDir, user);

  // The backup belongs to one connection from its start to its end.
  const administration = connectDatabase({ ...primary, database: 'postgres' }, 1);
  const backup = await administration.reserve({ patient: true });
  await backup.query('set statement_timeout = 0');
  await backup.query(`select pg_backup_start('standby', true)`);
  const copied = (path: string): boolean => !/(postmaster\.(pid|opts)|pg_internal\.init)$/.test(path);
  cpSync(source, clusterDir, { recursive: true, preserveTimestamps: true, filter: copied });
  const [label] = await backup.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
  backup.release();
  await administration.close();
  writeFileSync(join(clusterDir, 'backup_label'), label!.labelfile);
  writeFileSync(join(clusterDir, 'standby.signal'), '');
  appendFileSync(
    join(clusterDir, 'postgresql.auto.conf'),
    `\nprimary_conninfo = 'host=${primary.socketDir} port=${primary.port} user=${primary.user}'\n`,
  );
  mkdirSync(socketDir);
  await prepareSocketDir(socketDir, user);
  await giveAll(clusterDir, user);

  const site: Site = {
    dataDir,
    clusterDir,
    logFile: join(dataDir, 'postgres.log'),
    socketDir,
    port: primary.port,
    user,
    binaries: await prepareBinaries(findPackageDir(), dataDir, user),
    settings: { shared_buffers: '32MB' },
  };
  const postmaster = await spawnServer(site);
  const database = connectDatabase({ ...primary, socketDir }, 2);
  await untilAnswers(database);
  return {
    socketPath: join(socketDir, `.s.PGSQL.${primary.port}`),
    database,
    async promote() {
      await database.query('select pg_promote()');
    },
    async stop() {
      await database.close();
      await stopPostmaster(postmaster, () => undefined);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function giveAll(directory: string, user: ReturnType<typeof findServerUser>): Promise<void> {
  if (user === undefined) return;
  await giveTo(directory, user);
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }))
    await giveTo(join(directory, name), user);
}

async function untilAnswers(database: Database): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      await database.query('select 1');
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(50);
    }
  }
}
