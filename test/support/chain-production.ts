import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, inject } from 'vitest';
import type { Checkpoint } from '../../src/chains/keeper.ts';
import { connectDatabase } from '../../src/database/database.ts';
import { newId } from '../../src/kernel/id.ts';
import type { CryptoNetwork } from '../../src/networks/crypto.ts';
import {
  createSignerRole,
  dropRole,
  environmentOf,
  signerFile,
  startSigner,
} from '../signer/signer-process.ts';
import { administer } from './administer.ts';
import { createTestDatabase } from './database.ts';
import { type FerryProcess, type Finished, runFerry, startFerry, tokenFrom, urlOf } from './process.ts';
import { PATIENCE_MS, until } from './until.ts';

/** Production with one chain, as processes: `ferry signer` and `ferry serve` beside a database and a node. */

const NO_LIMIT = '9'.repeat(30);
const PATIENT_NODE = resolve(import.meta.dirname, 'patient-node.mjs');
const MORTAL_NODE = resolve(import.meta.dirname, 'mortal-node.mjs');

export type SignerKeys = { readonly lanes: readonly [string]; readonly xpub?: string };

export type ChainProduction = {
  readonly network: CryptoNetwork;
  /** Beside dollars; the same places in the configuration of the signer. */
  readonly assets: Readonly<Record<string, { readonly decimals: number; readonly place: string }>>;
  /** Of the network in the file of the signer. */
  readonly signer: object;
  /** Of the rail in the file of the service, without its signer. */
  rail(keys: SignerKeys): object;
  /** Gives the wallet what the profile has in the beginning. The service runs. */
  fund(keys: SignerKeys, isScanning: () => Promise<boolean>): Promise<unknown>;
  readonly opening: Readonly<Record<string, string>>;
  /** Lets a block come. */
  pass(): Promise<unknown>;
};

async function printed(args: readonly string[], env: Record<string, string>): Promise<any> {
  const { code, stdout, stderr } = await runFerry([...args, '--json'], env);
  expect({ args, code, stderr }).toMatchObject({ code: 0 });
  return JSON.parse(stdout);
}

function signerSettings(directory: string, { network, assets, signer }: ChainProduction) {
  const limits = { units_per_hour: NO_LIMIT, units_per_day: NO_LIMIT, payments_per_minute: 1000 };
  const places = Object.entries(assets).map(([code, { place }]) => [code, place]);
  const own = {
    assets: Object.fromEntries(places),
    fee_units_max: NO_LIMIT,
    fee_units_per_day: NO_LIMIT,
    ...signer,
  };
  return signerFile(directory, {
    networks: { [network]: own },
    limits: Object.fromEntries(Object.keys(assets).map((code) => [code, limits])),
  });
}

function writeConfig(path: string, { network, assets }: ChainProduction, rail: object): void {
  const list = Object.entries(assets).map(([code, { decimals, place }]) => ({
    code,
    decimals,
    kind: place === 'native' ? 'CRYPTO' : 'STABLECOIN',
    networks: { [network]: place },
  }));
  writeFileSync(
    path,
    JSON.stringify({
      assets: [{ code: 'USD', decimals: 2, kind: 'FIAT' }, ...list],
      rails: { [network]: rail },
    }),
  );
}

async function copyDatabase(from: string, to: string): Promise<void> {
  await until('nobody is connected', async () => {
    await administer(
      inject('postgres'),
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${from}'`,
    );
    await administer(inject('postgres'), `create database ${to} template ${from}`);
    return true;
  });
}

export async function createChainProduction(under: ChainProduction) {
  const { network } = under;
  const directory = mkdtempSync(join(tmpdir(), 'ferry-chain-'));
  const test = await createTestDatabase('template1');
  const { database: name } = test.address as { database: string };
  const role = `signer_${newId().replaceAll('-', '')}`;
  const signerUrl = await createSignerRole(test, role);
  const signerEnv = environmentOf(directory, signerUrl, signerSettings(directory, under));
  const { accounts } = await printed(['signer', 'init'], signerEnv);
  const keys = accounts[0] as SignerKeys;
  const config = join(directory, 'ferry.json');
  writeConfig(config, under, { ...under.rail(keys), signer: { socket: join(directory, 'signer.sock') } });
  const env: Record<string, string> = {
    FERRY_MODE: 'production',
    FERRY_FOUR_EYES: 'off',
    FERRY_PUBLIC_URL: 'https://pay.example',
    DATABASE_URL: urlOf(test.address),
    FERRY_SECRET_KEY: Buffer.alloc(32, 5).toString('base64'),
    FERRY_CONFIG: config,
    NODE_PASSWORD: 'ferry',
    FERRY_TEST_DEATH: join(directory, 'checkpoint'),
    NODE_OPTIONS: `--import=${PATIENT_NODE} --import=${MORTAL_NODE}`,
  };
  const running: { signer: Awaited<ReturnType<typeof startSigner>>; node: FerryProcess } = {
    signer: await startSigner(signerEnv),
    node: await startFerry(env),
  };
  const { NODE_OPTIONS: _, ...commandEnv } = env;
  const ferry = (...args: string[]): Promise<Finished> => runFerry(args, commandEnv);

  await printed(['customer', 'create', '--name', 'Operations'], env);
  const books = await printed(
    ['client', 'create', '--customer', 'Operations', '--name', 'books', '--scope', 'operator:journal'],
    env,
  );
  await printed(['customer', 'create', '--name', 'Harbour'], env);
  const client = await printed(['client', 'create', '--customer', 'Harbour', '--name', 'api'], env);

  async function call(method: string, path: string, body?: object): Promise<any> {
    const token = await tokenFrom(running.node.url, client);
    const response = await fetch(running.node.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const content: any = await response.json();
    if (response.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(content)}`);
    return content;
  }

  async function query<Row>(text: string): Promise<Row[]> {
    const database = connectDatabase(test.address, 1, { connectTimeoutMs: PATIENCE_MS });
    try {
      return await database.query<Row & object>(text);
    } finally {
      await database.close();
    }
  }

  await under.fund(keys, async () => (await query('select from chain_blocks limit 1')).length > 0);
  const profile = (await call('POST', '/v2/profiles', { nickname: 'main' })).id as string;
  for (const [asset, amount] of Object.entries(under.opening)) {
    const facts = { 'ref-id': asset, reason: 'Opening', reference: asset, asset, rail: network };
    const options = Object.entries({ ...facts, account: keys.lanes[0], 'profile-id': profile, amount });
    const booked = await runFerry(
      [
        'journal',
        'opening-balance',
        ...options.map(([key, value]) => `--${key}=${value}`),
        '--url',
        running.node.url,
      ],
      { ...env, FERRY_CLIENT_ID: books.client_id, FERRY_CLIENT_SECRET: books.client_secret },
    );
    expect(booked).toMatchObject({ code: 0 });
  }

  const transfer = (id: string): Promise<any> => call('GET', `/v2/transfer/transfers/${id}`);
  const kill = async (): Promise<void> => {
    await running.node.end('SIGKILL');
    await running.signer.end('SIGKILL');
  };

  return {
    keys,
    directory,
    profile,
    running,
    ferry,
    call,
    query,
    transfer,
    async withdraw(asset: string, amount: string, to: string): Promise<string> {
      const created = await call('POST', '/v2/transfer/crypto-withdrawals', {
        ref_id: newId(),
        profile_id: profile,
        asset,
        amount,
        crypto_network: network,
        destination_address: to,
      });
      return created.id as string;
    },
    /** A busy machine may take longer than the service waits for a rail. */
    async depositAddress(): Promise<string> {
      const body = { ref_id: newId(), profile_id: profile, crypto_network: network };
      let address = '';
      await until('the rail has an address', async () => {
        ({ address } = await call('POST', '/v2/transfer/deposit-addresses', body));
        return true;
      });
      return address;
    },
    async startSigner(): Promise<void> {
      running.signer = await startSigner(signerEnv);
    },
    async startNode(): Promise<void> {
      running.node = await startFerry(env);
    },
    /** The process of the service kills itself at that checkpoint. Resolves once it has. */
    async diesAt(checkpoint: Checkpoint, meanwhile: () => Promise<unknown>): Promise<void> {
      const { child } = running.node;
      await until(
        `the service has died ${checkpoint}`,
        async () => {
          if (child.exitCode !== null || child.signalCode !== null) return true;
          await meanwhile();
          return false;
        },
        50,
      );
      expect(child.signalCode).toBe('SIGKILL');
      rmSync(env.FERRY_TEST_DEATH!);
    },
    /** A test that failed may have left the service dead, or about to die. */
    async isRunning(): Promise<void> {
      rmSync(env.FERRY_TEST_DEATH!, { force: true });
      const { child } = running.node;
      if (child.exitCode !== null || child.signalCode !== null) running.node = await startFerry(env);
    },
    /** From now on it dies there. */
    willDieAt: (checkpoint: Checkpoint): void => writeFileSync(env.FERRY_TEST_DEATH!, checkpoint),
    /** Both processes are killed, and a copy of the database is kept. They do not run afterwards. */
    async backUp(): Promise<void> {
      await kill();
      await administer(inject('postgres'), `drop database if exists ${name}_backup`);
      await copyDatabase(name, `${name}_backup`);
    },
    /** The database is as it was at the backup. The log of the signer, the keys and the chain are not. */
    async restore(): Promise<void> {
      await kill();
      await administer(inject('postgres'), `drop database ${name} with (force)`);
      await copyDatabase(`${name}_backup`, name);
    },
    /** Lets blocks come until all of them have that status. */
    async completed(ids: readonly string[], status = 'COMPLETED'): Promise<any[]> {
      let found: any[] = [];
      await until(
        `${ids.length} transfers are ${status}`,
        async () => {
          await under.pass();
          found = await Promise.all(ids.map(transfer));
          return found.every((one) => one.status === status);
        },
        200,
      );
      return found;
    },
    /** What left the rail by the ledger, beyond what came in, to the unit. */
    async clearing(asset: string): Promise<bigint> {
      const [row] = await query<{ units: bigint }>(
        `select coalesce(-sum(delta), 0)::numeric as units from entries
         where account = 'clearing:${network.toLowerCase()}' and asset = '${asset}'`,
      );
      return row!.units;
    },
    async expectSound(): Promise<void> {
      expect(await ferry('verify', '--full')).toMatchObject({ code: 0 });
    },
    async remove(): Promise<void> {
      const { node, signer } = running;
      for (const { child } of [node, signer])
        if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await signer.ended;
      await administer(inject('postgres'), `drop database if exists ${name}_backup with (force)`);
      await test.drop();
      await dropRole(role);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export type Production = Awaited<ReturnType<typeof createChainProduction>>;
