import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { connectDatabase } from '../../src/database/database.ts';
import { newId } from '../../src/kernel/id.ts';
import {
  createSignerRole,
  dropRole,
  environmentOf,
  signerFile,
  startSigner,
} from '../signer/signer-process.ts';
import { administer } from './administer.ts';
import { type Anvil, CHAIN_ID, OUTSIDER, startAnvil, transferCall } from './anvil.ts';
import { createTestDatabase } from './database.ts';
import { type FerryProcess, type Finished, runFerry, startFerry, tokenFrom, urlOf } from './process.ts';
import { PATIENCE_MS, until } from './until.ts';

/** Production with an EVM rail, as processes: a node, the database, `ferry signer` and `ferry serve`. */

const ETHER = 10n ** 18n;
const TOKENS = 1_000n;
/** The one with the shortest time between blocks: the service looks at its chain most often. */
const NETWORK = 'ARBITRUM_ONE';
const NO_LIMIT = '9'.repeat(30);

async function deployToken(anvil: Anvil): Promise<string> {
  return anvil.deploy('Token', 10n ** 15n, OUTSIDER);
}

function signerSettings(directory: string, contract: string) {
  const limits = { units_per_hour: NO_LIMIT, units_per_day: NO_LIMIT, payments_per_minute: 1000 };
  return signerFile(directory, {
    networks: {
      [NETWORK]: {
        chain_id: CHAIN_ID,
        assets: { ETH: 'native', USDC: contract },
        fee_units_max: '100000000000000000',
        fee_units_per_day: '1000000000000000000',
      },
    },
    limits: { ETH: limits, USDC: limits },
  });
}

async function printed(args: readonly string[], env: Record<string, string>): Promise<any> {
  const { code, stdout, stderr } = await runFerry([...args, '--json'], env);
  expect({ args, code, stderr }).toMatchObject({ code: 0 });
  return JSON.parse(stdout);
}

export type ProductionOptions = {
  /** What the service reaches the node through. */
  readonly urls?: (anvil: Anvil) => Promise<string[]>;
  /** Further entries of the rail. */
  readonly rail?: object;
  /** What the lane holds, in whole coins. */
  readonly coins?: bigint;
  /** What is run instead of `ferry serve`, with the directory of the test. */
  readonly command?: (directory: string) => { readonly args: string[]; readonly env: Record<string, string> };
};

export async function createProduction(options: ProductionOptions = {}) {
  const { coins = 50n } = options;
  const directory = mkdtempSync(join(tmpdir(), 'ferry-evm-'));
  const anvil = await startAnvil();
  const urls = (await options.urls?.(anvil)) ?? [anvil.url];
  const contract = await deployToken(anvil);
  const test = await createTestDatabase('template1');
  const role = `signer_${newId().replaceAll('-', '')}`;
  const signerUrl = await createSignerRole(test, role);
  const signerEnv = environmentOf(directory, signerUrl, signerSettings(directory, contract));
  const { accounts } = await printed(['signer', 'init'], signerEnv);
  const { lanes, xpub } = accounts[0] as { lanes: [string]; xpub: string };
  const [lane] = lanes;
  await anvil.call('anvil_setBalance', [lane, `0x${(coins * ETHER).toString(16)}`]);
  await anvil.send({ to: contract, data: transferCall(lane, TOKENS * 10n ** 6n) });
  const config = join(directory, 'ferry.json');
  const rail = {
    kind: 'evm',
    chain_id: CHAIN_ID,
    nodes: urls,
    signer: { socket: join(directory, 'signer.sock') },
    lanes,
    account: xpub,
    confirmations: { depth: 2 },
    fees: { max_gwei: '100' },
    ...options.rail,
  };
  const write = (changes: object = {}): void =>
    writeFileSync(
      config,
      JSON.stringify({
        assets: [
          { code: 'USD', decimals: 2, kind: 'FIAT' },
          { code: 'ETH', decimals: 18, kind: 'CRYPTO', networks: { [NETWORK]: 'native' } },
          { code: 'USDC', decimals: 6, kind: 'STABLECOIN', networks: { [NETWORK]: contract } },
        ],
        rails: { [NETWORK]: { ...rail, ...changes } },
      }),
    );
  write();
  const env = {
    FERRY_MODE: 'production',
    FERRY_FOUR_EYES: 'off',
    FERRY_PUBLIC_URL: 'https://pay.example',
    DATABASE_URL: urlOf(test.address),
    FERRY_SECRET_KEY: Buffer.alloc(32, 5).toString('base64'),
    FERRY_CONFIG: config,
  };
  const command = options.command?.(directory);
  const start = (): Promise<FerryProcess> => startFerry({ ...env, ...command?.env }, command?.args);
  const running = { signer: await startSigner(signerEnv), node: await start() };
  const ferry = (...args: string[]): Promise<Finished> => runFerry(args, env);

  await printed(['customer', 'create', '--name', 'Operations'], env);
  const books = await printed(
    ['client', 'create', '--customer', 'Operations', '--name', 'books', '--scope', 'operator:journal'],
    env,
  );
  await printed(['customer', 'create', '--name', 'Harbour'], env);
  const client = await printed(['client', 'create', '--customer', 'Harbour', '--name', 'api'], env);

  async function call(method: string, path: string, body?: object, url = running.node.url): Promise<any> {
    const token = await tokenFrom(url, client);
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const content: any = await response.json();
    if (response.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(content)}`);
    return content;
  }

  const profile = (await call('POST', '/v2/profiles', { nickname: 'main' })).id as string;
  for (const [asset, amount] of [
    ['ETH', coins],
    ['USDC', TOKENS],
  ] as const) {
    const facts = {
      'ref-id': asset,
      reason: 'Opening',
      reference: asset,
      asset,
      rail: NETWORK,
      account: lane,
    };
    const given = Object.entries(facts).map(([name, value]) => `--${name}=${value}`);
    const booked = await runFerry(
      [
        'journal',
        'opening-balance',
        ...given,
        `--profile-id=${profile}`,
        `--amount=${amount}`,
        '--url',
        running.node.url,
      ],
      { ...env, FERRY_CLIENT_ID: books.client_id, FERRY_CLIENT_SECRET: books.client_secret },
    );
    expect(booked).toMatchObject({ code: 0 });
  }

  /** With the same id, it is the same withdrawal. */
  async function withdraw(asset: string, amount: string, refId = newId(), url?: string) {
    const to = `0x${refId.replaceAll('-', '')}00000001`;
    const body = { profile_id: profile, asset, amount, crypto_network: NETWORK, destination_address: to };
    const transfer = await call('POST', '/v2/transfer/crypto-withdrawals', { ref_id: refId, ...body }, url);
    return { id: transfer.id as string, to };
  }

  const transfer = (id: string): Promise<any> => call('GET', `/v2/transfer/transfers/${id}`);

  async function query<Row>(text: string): Promise<Row[]> {
    const database = connectDatabase(test.address, 1, { connectTimeoutMs: PATIENCE_MS });
    try {
      return await database.query<Row & object>(text);
    } finally {
      await database.close();
    }
  }

  return {
    network: NETWORK,
    anvil,
    contract,
    lane,
    xpub,
    test,
    profile,
    running,
    directory,
    ferry,
    call,
    withdraw,
    transfer,
    query,
    administer: (statement: string) => administer(inject('postgres'), statement),
    configure: write,
    async startSigner(): Promise<void> {
      running.signer = await startSigner(signerEnv);
    },
    async startNode(): Promise<void> {
      running.node = await start();
    },
    /** A test that failed may have left the service dead. */
    async isRunning(): Promise<void> {
      const { child } = running.node;
      if (child.exitCode !== null || child.signalCode !== null) running.node = await start();
    },
    /** Beside the one that is running. */
    startAnother: start,
    /** Mines until all of them have that status. */
    async completed(ids: readonly string[], status = 'COMPLETED'): Promise<any[]> {
      let found: any[] = [];
      await until(
        `${ids.length} transfers are ${status}`,
        async () => {
          await anvil.mine();
          found = await Promise.all(ids.map(transfer));
          return found.every((one) => one.status === status);
        },
        200,
      );
      return found;
    },
    /** What the wallet holds is what the ledger says has come in and not left over the rail, to the unit. */
    async expectBooked(): Promise<void> {
      const rows = await query<{ address: string }>('select address from chain_addresses');
      const addresses = [lane, ...rows.map(({ address }) => address)];
      const held = { ETH: 0n, USDC: 0n };
      for (const address of addresses) {
        held.ETH += await anvil.balance(address);
        held.USDC += await anvil.tokens(contract, address);
      }
      const booked = await query<{ asset: string; units: bigint }>(
        `select asset, -sum(delta)::numeric as units from entries where account = 'clearing:${NETWORK.toLowerCase()}' group by asset`,
      );
      expect(Object.fromEntries(booked.map(({ asset, units }) => [asset, units]))).toEqual(held);
    },
    async expectSound(): Promise<void> {
      const verified = await ferry('verify', '--full');
      expect(verified).toMatchObject({ code: 0 });
    },
    async remove(): Promise<void> {
      const { node, signer } = running;
      for (const { child } of [node, signer] as Pick<FerryProcess, 'child'>[])
        if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await signer.ended;
      await anvil.stop();
      await test.drop();
      await dropRole(role);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export type Production = Awaited<ReturnType<typeof createProduction>>;
