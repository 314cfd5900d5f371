import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { connectDatabase } from '../../src/database/database.ts';
import { startEmbedded } from '../../src/database/embedded/server.ts';
import { migrate } from '../../src/database/migrate.ts';
import { administer } from './administer.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: { socketDir: string; port: number; user: string };
    /** The role that the services of tests connect as. It has only the rights that serving needs. */
    servingRole: string;
  }
}

// The data directory is deleted after the run, so nothing has to survive a crash of the machine. Tests about durability start
// servers of their own. Several test files with several nodes each are connected at once. Databases live for seconds, so there is
// nothing to vacuum; tests of plans analyze their tables themselves.
const settings = { fsync: 'off', full_page_writes: 'off', max_connections: '500', autovacuum: 'off' };

const servingRole = 'ferry_serve';

/** One real server for the whole run. Databases are copied from a template that is migrated once. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ferry-test-'));
  const server = await startEmbedded({ dataDir, log: () => undefined, settings });
  const postgres = { socketDir: server.socketDir, port: server.port, user: server.user };
  await administer(postgres, 'create database template_ferry', `create role ${servingRole} login`);
  const template = connectDatabase({ ...postgres, database: 'template_ferry' }, 1, {
    connectTimeoutMs: 60_000,
  });
  await migrate(template, undefined, undefined, { servingRole });
  await template.close();
  project.provide('postgres', postgres);
  project.provide('servingRole', servingRole);
  return async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}
