import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, createCustomer, disableClient } from '../../src/auth/administration.ts';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { connectDatabase, type Database } from '../../src/database/database.ts';
import { startEmbedded } from '../../src/database/embedded/server.ts';
import { vaultOf } from '../../src/vault.ts';
import { type Description, readDescription } from '../support/openapi.ts';
import { type FerryProcess, logOf, runFerry, startFerry } from '../support/process.ts';
import { type Access, createAccess } from './access.ts';
import { openWriteLog, type WriteLog } from './writes.ts';

/** A sandbox of its own in a temporary directory: a database server, the service as a process, and customers. */
export type Stage = {
  readonly url: string;
  readonly address: { readonly host: string; readonly port: number };
  readonly database: Database;
  readonly description: Description;
  readonly writes: WriteLog;
  createParty(name: string): Promise<Party>;
  /** The headers of a customer, right and wrong ones. */
  accessOf(party: Party): Promise<Access>;
  /** What the service has logged as an error, or why it does not serve any more. */
  troubles(): Promise<string[]>;
  /** Stops the service and starts it again with its workers, so that they continue what was accepted. */
  restartWithWorkers(): Promise<void>;
  /** What `ferry verify` says; throws if the ledger is not sound. */
  verify(): Promise<string>;
  close(): Promise<void>;
};

export type Party = {
  readonly id: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly authorization: string;
  call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; headers: Headers; body: any }>;
};

/** Deleted after the run, so nothing has to survive a crash of the machine; `logical` for the log of writes. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', wal_level: 'logical' };
const ERROR_LEVEL = 50;

async function requestToken(url: string, form: Record<string, string>): Promise<string> {
  const response = await fetch(`${url}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', ...form }),
  });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`no token: ${response.status}`);
  return token;
}

export async function openStage(): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'ferry-hostile-'));
  const server = await startEmbedded({ dataDir: directory, log: () => undefined, settings: SETTINGS });
  const { socketDir, port, user } = server;
  const env = {
    DATABASE_URL: `postgres://${user}@localhost:${port}/postgres?host=${encodeURIComponent(socketDir)}`,
    FERRY_DATA_DIR: directory,
    LOG_LEVEL: 'info',
  };
  // Without workers, so that records change only when a request changes them.
  let ferry: FerryProcess = await startFerry({ ...env, FERRY_WORKERS: 'off' });
  const earlier: FerryProcess[] = [];
  const { url } = ferry;
  const database = connectDatabase({ socketDir, port, user, database: 'postgres' }, 2);
  const vault = await vaultOf(
    { mode: 'sandbox', secretKey: undefined, previousSecretKey: undefined },
    database,
  );
  const description = readDescription(await (await fetch(`${url}/openapi.json`)).json());
  const { hostname, port: httpPort } = new URL(url);

  const newClient = (customer: string) =>
    createClient(database, vault, { customer, name: 'hostile', scopes: SCOPE_NAMES });
  const tokenOf = ({ clientId, clientSecret }: { clientId: string; clientSecret: string }, scope?: string) =>
    requestToken(url, {
      client_id: clientId,
      client_secret: clientSecret,
      ...(scope === undefined ? {} : { scope }),
    });

  return {
    url,
    address: { host: hostname, port: Number(httpPort) },
    database,
    description,
    writes: await openWriteLog(database),
    async createParty(name) {
      const customer = await createCustomer(database, {
        name: `${name} ${randomBytes(4).toString('hex')}`,
        integration: 'FIRST_PARTY',
      });
      const { clientId, clientSecret } = await newClient(customer.id);
      const token = await tokenOf({ clientId, clientSecret });
      return {
        id: customer.id,
        clientId,
        clientSecret,
        authorization: `Bearer ${token}`,
        call: (method, path, body) => call(url, token, method, path, body),
      };
    },
    async accessOf(party) {
      const other = await newClient(party.id);
      const disabled = await tokenOf(other);
      await disableClient(database, other.clientId);
      const { clientId, clientSecret } = party;
      const revoke = async (token: string): Promise<void> => {
        const body = new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret });
        const { status } = await fetch(`${url}/oauth2/revoke`, { method: 'POST', body });
        if (status !== 200) throw new Error(`the token was not revoked: ${status}`);
      };
      const customer = await createCustomer(database, { name: 'Third party', integration: 'THIRD_PARTY' });
      const thirdParty = await tokenOf(await newClient(customer.id));
      const others = { disabled, thirdParty };
      return createAccess(database, SCOPE_NAMES, (scope) => tokenOf(party, scope), revoke, others);
    },
    async troubles() {
      const lines = [...earlier, ferry].flatMap(logOf).filter(({ level }) => level >= ERROR_LEVEL);
      const logged = lines.map(
        (line) => `the service logged an error: ${JSON.stringify(line).slice(0, 500)}`,
      );
      if (ferry.child.exitCode !== null || ferry.child.signalCode !== null)
        return [...logged, 'the service has ended'];
      const { status } = await fetch(`${ferry.url}/health/ready`);
      return status === 200 ? logged : [...logged, `/health/ready answers ${status}`];
    },
    async restartWithWorkers() {
      await ferry.end('SIGTERM');
      earlier.push(ferry);
      ferry = await startFerry(env);
    },
    async verify() {
      const { code, stdout, stderr } = await runFerry(['verify'], env);
      if (code !== 0) throw new Error(`ferry verify found violations: ${stdout}${stderr}`);
      return stdout.trim();
    },
    async close() {
      await database.close();
      await ferry.end('SIGTERM');
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function call(url: string, token: string, method: string, path: string, body?: unknown) {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}
