// Where everything is measured: one embedded server, the service's database on it, and whatever is compared with it.
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/database/database.ts';
import { type EmbeddedServer, startEmbedded } from '../../src/database/embedded/server.ts';
import { createWritePath } from '../../src/ledger/write-path.ts';
import { type FerryProcess, runFerry, sandboxOf, startFerry, tokenFrom } from '../../test/support/process.ts';
import { connectUnlocked } from '../../test/support/vault.ts';
import { PROFILES } from '../figures.ts';
import { requireDurability, scratchDirectory } from '../machine.ts';
import { assets, fund, profileIds } from '../profiles.ts';

export const FERRY = 'ferry';
export const NAIVE = 'naive';

/** Debited and credited by transfers; all of one customer, so that all of them can be debited with its token. */
export const PROFILE_IDS = profileIds(PROFILES);
/** The other customer's, who only settles. */
export const COUNTERPARTY_IDS = profileIds(100, PROFILES + 1);

export type Stage = {
  readonly server: EmbeddedServer;
  readonly directory: string;
  connect(database: string): Database;
  /** With a connection that is closed afterwards, whatever happens. */
  using<T>(database: string, work: (database: Database) => Promise<T>): Promise<T>;
  /** One statement that needs a connection to no database in particular, such as those about databases. */
  administrate(statement: string): Promise<void>;
  environment(database: string): Record<string, string>;
  cleanUp(): Promise<void>;
};

/** `settings` are for experiments: with those that matter for durability, the run is refused. */
export async function openStage(settings: Readonly<Record<string, string>>): Promise<Stage> {
  const directory = await scratchDirectory();
  const server = await startEmbedded({ dataDir: directory, log: () => undefined, settings });
  const { socketDir, port, user } = server;
  const connect = (database: string): Database => connectUnlocked({ socketDir, port, user, database }, 2);
  const using = async <T>(name: string, work: (database: Database) => Promise<T>): Promise<T> => {
    const database = connect(name);
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  };
  return {
    server,
    directory,
    connect,
    using,
    administrate: (statement) =>
      using('postgres', async (administration) => {
        const connection = await administration.reserve({ patient: true });
        await connection.query('set statement_timeout = 0');
        await connection.query(statement).finally(() => connection.discard());
      }),
    environment: (database) => ({
      DATABASE_URL: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(socketDir)}`,
      FERRY_DATA_DIR: directory,
      LOG_LEVEL: 'warn',
    }),
    async cleanUp() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export type Service = {
  readonly pid: number;
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** Of the customer whose profiles are debited, and of its counterparty. */
  readonly token: string;
  readonly counterpartyToken: string;
  stop(): Promise<void>;
};

const running = new Set<FerryProcess>();

/** The service as its users run it, in a process of its own. */
export async function startService(
  stage: Stage,
  database: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const ferry = await startFerry({ ...stage.environment(database), ...env });
  running.add(ferry);
  const [customer, counterparty] = sandboxOf(stage.directory).customers;
  const { hostname, port } = new URL(ferry.url);
  return {
    pid: ferry.child.pid!,
    host: hostname,
    port: Number(port),
    url: ferry.url,
    token: await tokenFrom(ferry.url, customer!),
    counterpartyToken: await tokenFrom(ferry.url, counterparty!),
    async stop() {
      const { code } = await ferry.end('SIGTERM');
      running.delete(ferry);
      // What it wrote to its log, warnings and worse, belongs to the figures.
      const said = ferry
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{'));
      if (said.length > 0) console.log(`The service said:\n${said.slice(0, 10).join('\n')}`);
      if (code !== 0) throw new Error(`the service ended with ${code}`);
    },
  };
}

const AUDIT_MS_MAX = 30 * 60_000;

/** The service audits its ledger soon after the start, which takes a while when there is a lot: not while it is measured. */
export async function untilAudited(service: Service): Promise<void> {
  const deadline = performance.now() + AUDIT_MS_MAX;
  for (let waited = 0; ; waited += 1) {
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    const violations = Number(/^ferry_audit_violations (\S+)$/m.exec(metrics)?.[1]);
    if (violations === 0) return;
    if (violations > 0) throw new Error(`the audit of the service found ${violations} violations`);
    if (performance.now() > deadline) throw new Error('the audit of the service does not end');
    if (waited % 20 === 0) console.log('waiting for the audit that the service does after its start …');
    await sleep(500);
  }
}

/** A run that fails, or is interrupted, leaves no service behind. */
export async function stopServices(): Promise<void> {
  await Promise.all([...running].map((ferry) => ferry.end('SIGTERM')));
}

/** The service's database, with profiles and funds; nobody is connected to it afterwards. */
export async function prepareFerry(stage: Stage, name: string = FERRY): Promise<void> {
  await stage.administrate(`create database ${name}`);
  // The first start makes the tables and the demo customers.
  await (await startService(stage, name)).stop();
  const [customer, counterparty] = sandboxOf(stage.directory).customers;
  const owned = [
    { owner: customer!.customer_id, ids: PROFILE_IDS },
    { owner: counterparty!.customer_id, ids: COUNTERPARTY_IDS },
  ];
  await stage.using(name, async (database) => {
    await requireDurability(database);
    for (const { owner, ids } of owned) {
      await database.query(
        `insert into profiles (id, customer_id, nickname, type, created_at_ns)
         select id, $1::uuid, 'bench ' || number, 'NORMAL', 1
         from unnest($2::uuid[]) with ordinality as made (id, number)`,
        [owner, `{${ids.join(',')}}`],
      );
    }
    const observer = { batch: () => undefined, queue: () => undefined, trouble: console.error };
    const writePath = createWritePath({ database, assets, observer });
    for (const asset of ['USD', 'BTC']) await fund(writePath, [...PROFILE_IDS, ...COUNTERPARTY_IDS], asset);
    await writePath.stop();
    await database.query('vacuum analyze');
  });
}

/** The audit of the service itself, for a whole database. */
export async function requireCleanLedger(stage: Stage, database: string): Promise<void> {
  const { code, stdout, stderr } = await runFerry(['verify'], stage.environment(database));
  if (code !== 0) throw new Error(`the audit of ${database} found violations:\n${stdout}${stderr}`);
  console.log(`${database}: ${stdout.trim()}`);
}
