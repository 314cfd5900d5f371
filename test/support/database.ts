import { setTimeout as sleep } from 'node:timers/promises';
import { describe, inject } from 'vitest';
import type { Database, DatabaseAddress, Transaction } from '../../src/database/database.ts';
import { limitLockWaits } from '../../src/database/distribution.ts';
import { newId } from '../../src/kernel/id.ts';
import { LIMITS } from '../../src/limits.ts';
import { administer } from './administer.ts';
import { addressOf, makeTemplate, on } from './cluster.ts';
import { connectUnlocked } from './vault.ts';

/** The tests run on a Citus cluster. */
export const ON_CLUSTER = inject('servers').length > 0;

/** About plans of PostgreSQL, its rights, and its own form of statements: see CONTRIBUTING.md. */
export const describeOnOneServer = describe.skipIf(ON_CLUSTER);

/** On a cluster, the audit leaves out what is younger than nodes' clocks may be behind: it may be committed on some servers only. */
export async function untilAuditable(): Promise<void> {
  if (ON_CLUSTER) await sleep(LIMITS.clockBehindMaxMs + 100);
}

export type TestDatabase = {
  /** As a superuser, for what a test does itself. */
  database: Database;
  address: DatabaseAddress;
  /** As the role that serves. */
  servingAddress: DatabaseAddress;
  drop(): Promise<void>;
  /** Drops it after its connections were closed. */
  remove(): Promise<void>;
};

/** Statements that the triggers and foreign keys of the schema refuse: what an intruder or a bug of the past has done. */
export function unguarded(database: Database): Pick<Database, 'query'> {
  return {
    query: (text, parameters) =>
      database.transaction(async (tx) => {
        await liftGuards(tx);
        return tx.query(text, parameters);
      }),
  };
}

/** For the rest of the transaction. */
export async function liftGuards(tx: Transaction): Promise<void> {
  // To all servers of a cluster. Elsewhere nobody reads the setting.
  await tx.query(`set local citus.propagate_set_commands = 'local'`);
  await tx.query('set local session_replication_role = replica');
}

/** A fresh, migrated database of its own, unlocked. A service that a test starts on it replaces the vault by its own. `template: 'template1'` gives an empty one. */
export async function createTestDatabase(template = 'template_ferry'): Promise<TestDatabase> {
  const postgres = inject('postgres');
  const name = `test_${newId().replaceAll('-', '_')}`;
  const servers = inject('servers');
  const onAll = async (statement: string): Promise<void> => {
    if (servers.length === 0) return administer(postgres, statement);
    for (const server of servers) await on(addressOf(server, 'postgres'), statement);
  };
  const remove = (): Promise<void> => onAll(`drop database ${name} with (force)`);
  if (servers.length > 0 && template.startsWith('test_')) await makeTemplate({ servers }, template);
  await onAll(`create database ${name} template ${template}`);
  const address = { ...postgres, database: name };
  const database = connectUnlocked(address);
  // A setting of the database, which is not copied with it.
  if (servers.length > 0 && template !== 'template1') await database.transaction(limitLockWaits);
  return {
    database,
    address,
    servingAddress: { ...address, user: inject('servingRole') },
    async drop() {
      await database.close();
      await remove();
    },
    remove,
  };
}
