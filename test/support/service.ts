import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { expect } from 'vitest';
import { createClient, createCustomer } from '../../src/auth/administration.ts';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Database, DatabaseAddress } from '../../src/database/database.ts';
import { newId } from '../../src/kernel/id.ts';
import { ALL_CHECKS, auditEverything } from '../../src/ledger/audit.ts';
import type { Check } from '../../src/ledger/audit-checks.ts';
import { assemble } from '../../src/main.ts';
import { NETWORKS, type Networks } from '../../src/networks/register.ts';
import type { Vault } from '../../src/sealing/vault.ts';
import { createTestDatabase } from './database.ts';
import { openingBalance } from './funding.ts';
import { type Description, readDescription } from './openapi.ts';
import { connectUnlocked } from './vault.ts';

export type Answer = { status: number; headers: Headers; body: any };
export type TestCustomer = {
  readonly id: string;
  /** The header with its token. */
  readonly authorization: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
};
export type TestService = {
  /** As a superuser; the service itself connects as the role that serves. */
  readonly database: Database;
  readonly url: string;
  /** Of its database, for the command line. */
  readonly address: DatabaseAddress;
  readonly app: FastifyInstance;
  readonly vault: Vault;
  /** The document /openapi.json. `call` checks every answer against it. */
  readonly description: Description;
  /** Without a token. */
  readonly anonymous: Pick<TestCustomer, 'call'>;
  createCustomer(options?: {
    integration?: 'FIRST_PARTY' | 'THIRD_PARTY';
    scopes?: string[];
  }): Promise<TestCustomer>;
  /** A profile of the customer with these balances in decimal strings: `{ USD: '100' }`. */
  createProfile(customer: TestCustomer, balances?: Record<string, string>): Promise<string>;
  /** Another node on the same database. Its address. */
  addNode(): Promise<string>;
  /** Rows of the tables that a refused request must not touch. */
  countRows(): Promise<Record<string, bigint>>;
  /** With `checks`, if the test has made entries that no record requires. */
  stop(checks?: readonly Check[]): Promise<void>;
};

const isJson = ({ headers }: Response): boolean => /\bjson\b/.test(headers.get('content-type') ?? '');

/** By the environment that it was made from, with `service.invalid` as the address. */
const documents = new Map<string, string>();

/**
 * The document /openapi.json. It depends on the configuration and on the address alone, so it is requested once in each process for
 * the same environment: to make it takes longer than the rest of a start. Not for a register of the test's own, nor for a file.
 */
async function documentOf(url: string, env: Record<string, string>, networks: Networks): Promise<string> {
  const isPlain = networks === NETWORKS && env.FERRY_CONFIG === undefined;
  const key = JSON.stringify(env);
  const known = isPlain ? documents.get(key) : undefined;
  if (known !== undefined) return known.replaceAll('http://service.invalid', url);
  const plain = { headers: { 'accept-encoding': 'identity' } };
  const text = await (await fetch(`${url}/openapi.json`, plain)).text();
  if (isPlain) documents.set(key, text.replaceAll(url, 'http://service.invalid'));
  return text;
}

/** The whole service on its own port and database. `stop` fails if the audit finds a violation. */
export async function startTestService(
  env: Record<string, string> = {},
  networks: Networks = NETWORKS,
  /** Changes the connections that the service gets. */
  wrap: (database: Database) => Database = (database) => database,
): Promise<TestService> {
  const test = await createTestDatabase();
  const { database } = test;
  const serving = connectUnlocked(test.servingAddress);
  // Without workers, so that records change only when a test changes them.
  const config = readConfig({ PORT: '0', FERRY_WORKERS: 'off', ...env }, networks);
  const { assets } = config;
  const logger = pino({ level: 'silent' });
  const service = await assemble({ config, database: wrap(serving), logger });
  const others: (() => Promise<void>)[] = [];
  database.unlock(service.vault);
  await service.start();
  service.setReady();
  const url = service.url();
  const description = readDescription(JSON.parse(await documentOf(url, env, networks)));

  async function call(
    token: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const answer = {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : isJson(response) ? JSON.parse(text) : text,
    };
    description.check(method, path, answer);
    return answer;
  }

  async function tokenOf(customer: string, scopes: readonly string[]): Promise<string> {
    const { clientId, clientSecret } = await createClient(database, service.vault, {
      customer,
      name: 'test',
      scopes,
    });
    const response = await fetch(`${url}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const { access_token } = (await response.json()) as { access_token: string };
    return access_token;
  }

  return {
    database,
    url,
    address: test.address,
    app: service.app,
    vault: service.vault,
    description,
    anonymous: { call: (method, path, body, headers) => call(undefined, method, path, body, headers) },
    async createCustomer(options = {}) {
      const customer = await createCustomer(database, {
        name: `Customer ${randomBytes(8).toString('hex')}`,
        integration: options.integration ?? 'FIRST_PARTY',
      });
      const token = await tokenOf(customer.id, options.scopes ?? SCOPE_NAMES);
      const { id } = customer;
      return {
        id,
        authorization: `Bearer ${token}`,
        call: (method, path, body, headers) => call(token, method, path, body, headers),
      };
    },
    async createProfile(customer, balances = {}) {
      const id = newId();
      await database.query(
        `insert into profiles (id, customer_id, nickname, type, created_at_ns) values ($1, $2, $3, 'NORMAL', 0)`,
        [id, customer.id, `profile ${id}`],
      );
      for (const [asset, text] of Object.entries(balances)) {
        const parsed = assets.parse(asset, text);
        if (!parsed.ok) throw new Error(parsed.message);
        await service.writePath.submit(openingBalance(id, asset, parsed.units));
      }
      return id;
    },
    async addNode() {
      const own = connectUnlocked(test.servingAddress);
      const node = await assemble({ config, database: own, logger });
      others.push(async () => {
        await node.stop();
        await own.close();
      });
      await node.start();
      node.setReady();
      return node.url();
    },
    async countRows() {
      const [row] = await database.query<Record<string, bigint>>(
        `select (select count(*) from transfers) as transfers, (select count(*) from entries) as entries,
                (select coalesce(sum(lines), 0)::bigint from event_groups) as events, (select count(*) from idempotency_keys) as idempotency_keys,
                (select count(*) from fiat_accounts) as fiat_accounts, (select count(*) from account_members) as members,
                (select count(*) from settlement_transactions) as settlements, (select count(*) from accounts) as accounts,
                (select count(*) from identities) as identities, (select count(*) from profiles) as profiles,
                (select coalesce(sum(held), 0) from balances) as held`,
      );
      return row!;
    },
    async stop(checks = ALL_CHECKS) {
      for (const stop of others) await stop();
      await service.stop();
      await serving.close();
      expect((await auditEverything(database, assets, checks)).violations).toEqual([]);
      await test.drop();
    },
  };
}

/** Checks status, slug and the body of a problem (RFC 9457), and returns its meta. */
export function expectProblem(answer: Answer, status: number, slug: string): any {
  expect({ status: answer.status, type: answer.body?.type }).toEqual({
    status,
    type: expect.stringMatching(new RegExp(`/problems/${slug}$`)),
  });
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(answer.body).toEqual({
    type: expect.any(String),
    title: expect.any(String),
    status,
    detail: expect.any(String),
    meta: expect.any(Object),
  });
  return answer.body.meta;
}

/** A 400 that names exactly these fields. */
export function expectInvalid(answer: Answer, ...pointers: string[]): void {
  const meta = expectProblem(answer, 400, 'invalid-request');
  expect(meta.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual([...pointers].sort());
}
