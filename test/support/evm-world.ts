import { expect } from 'vitest';
import { addressesBelow } from '../../src/chains/evm/addresses.ts';
import { createEvmDriver, type EvmDriver } from '../../src/chains/evm/driver.ts';
import type { EvmSettings } from '../../src/chains/evm/settings.ts';
import type { Checkpoint } from '../../src/chains/keeper.ts';
import { type ChainAdapter, openChain } from '../../src/chains/rail.ts';
import type { Signer } from '../../src/chains/signer.ts';
import { openSigner, readSigner } from '../../src/chains/signer-settings.ts';
import type { Database } from '../../src/database/database.ts';
import { createDeposits } from '../../src/deposits/capability.ts';
import { createPriceTable, SANDBOX_PRICES } from '../../src/fees/prices.ts';
import { createFeeSchedule } from '../../src/fees/schedule.ts';
import { createAssets } from '../../src/kernel/asset.ts';
import { newId } from '../../src/kernel/id.ts';
import { NS_PER_MS } from '../../src/kernel/instant.ts';
import type { Caller } from '../../src/kernel/route.ts';
import { ALL_CHECKS, auditEverything } from '../../src/ledger/audit.ts';
import type { WritePath } from '../../src/ledger/write-path.ts';
import { DEFAULT_ASSETS } from '../../src/networks/default-assets.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import { createRails } from '../../src/rails/rail.ts';
import { SHARED_TABLES } from '../../src/tables.ts';
import { createTransfers } from '../../src/transfers/capability.ts';
import type { Transfer } from '../../src/transfers/transfer.ts';
import { createWithdrawals } from '../../src/withdrawals/capability.ts';
import { cryptoWithdrawalCommand } from '../../src/withdrawals/crypto.ts';
import { type Anvil, CHAIN_ID, LANE, OUTSIDER, startAnvil, transferCall } from './anvil.ts';
import { createTestDatabase } from './database.ts';
import { openingBalance } from './funding.ts';
import { createTestWritePath } from './ledger.ts';
import { PATIENCE_MS } from './until.ts';
import { connectUnlocked } from './vault.ts';

/** The service without HTTP on a real node. Nothing runs by itself: a test mines blocks and gives turns. */

const NETWORK = 'ETHEREUM';
const SUPPLY = 10n ** 15n;

export type NodeOptions = {
  readonly settings?: Partial<EvmSettings>;
  readonly checkpoint?: (name: Checkpoint, id: string) => Promise<void>;
  readonly wrapSigner?: (signer: Signer) => Signer;
  readonly leaseMs?: number;
};

export type EvmNode = ChainAdapter & {
  readonly driver: EvmDriver;
  readonly writePath: WritePath;
  readonly worker: { runDue(): Promise<number> };
  readonly noticeWorker: { runDue(): Promise<number> };
  readonly troubles: string[];
};

async function deployTokens(anvil: Anvil) {
  const contracts = {
    USDC: await anvil.deploy('Token', SUPPLY),
    NOPE: await anvil.deploy('FalseToken', SUPPLY),
    TAXED: await anvil.deploy('FeeToken', SUPPLY),
    refuser: await anvil.deploy('Refuser'),
    till: await anvil.deploy('Till'),
    sender: await anvil.deploy('Sender'),
    unknown: await anvil.deploy('Token', SUPPLY),
  };
  for (const to of [contracts.USDC, contracts.unknown])
    await anvil.send({ from: LANE, to, data: transferCall(OUTSIDER, 10n ** 9n) });
  return contracts;
}

export type Contracts = Awaited<ReturnType<typeof deployTokens>>;

const token = (code: string, contract: string) =>
  ({ code, decimals: 6, kind: 'STABLECOIN', networks: { [NETWORK]: contract } }) as const;

export async function createEvmWorld(anvil: Anvil, given?: Contracts) {
  const contracts = given ?? (await deployTokens(anvil));
  const assets = createAssets([
    ...DEFAULT_ASSETS.filter(({ code }) => !['USDC', 'PUSD'].includes(code)),
    token('USDC', contracts.USDC),
    token('NOPE', contracts.NOPE),
    token('TAXED', contracts.TAXED),
  ]);
  const test = await createTestDatabase();
  const { database } = test;
  const caller: Caller = {
    customerId: newId(),
    clientId: 'test',
    scopes: new Set(),
    integration: 'FIRST_PARTY',
  };
  const firstNonce = BigInt(await anvil.call<string>('eth_getTransactionCount', [LANE, 'latest']));
  let offsetNs = 0n;
  const common = {
    ...SHARED_TABLES,
    assets,
    networks: NETWORKS,
    prices: createPriceTable(SANDBOX_PRICES),
    schedule: createFeeSchedule(NETWORKS, assets, {
      crypto: { NOPE: { [NETWORK]: '1' }, TAXED: { [NETWORK]: '1' } },
    }),
    rentLamportsPerDayMax: 0n,
  };
  const stops: (() => Promise<void>)[] = [];

  const settingsOf = (own: Partial<EvmSettings> = {}): EvmSettings => ({
    network: NETWORK,
    chainId: CHAIN_ID,
    nodes: [anvil.url],
    nodesAgreeing: 1,
    policy: { depth: 3, tag: 'latest' },
    blockMs: 1,
    native: 'ETH',
    tokens: (['USDC', 'NOPE', 'TAXED'] as const).map((asset) => ({ asset, contract: contracts[asset] })),
    fees: { maxFeeMax: 500n * 10n ** 9n, tipMin: 10n ** 6n, tipMax: 5n * 10n ** 9n },
    bumpAfterMs: PATIENCE_MS,
    inFlightMax: 16,
    firstNonce,
    traces: false,
    dataFeeOracle: undefined,
    lowMark: undefined,
    highMark: undefined,
    ...own,
  });

  async function createNode(
    options: NodeOptions = {},
    own: Database = connectUnlocked(test.address, 6),
  ): Promise<EvmNode> {
    const writePath = createTestWritePath(own, assets);
    stops.push(async () => {
      await writePath.stop();
      await own.close();
    });
    const troubles: string[] = [];
    const log = {
      info: () => undefined,
      error: (_: object, what?: string) => void troubles.push(what!),
      warn: (facts: { err?: Error }, what?: string) => void troubles.push(`${what}: ${facts.err?.message}`),
    };
    const clock = { now: () => BigInt(Date.now()) * NS_PER_MS, nowMs: () => Date.now() };
    const settings = settingsOf(options.settings);
    const local = openSigner(
      readSigner(
        { signer: 'embedded', chain_id: CHAIN_ID },
        {
          rail: NETWORK,
          path: `rails.${NETWORK}`,
          assets,
          networks: NETWORKS,
          mode: 'sandbox',
          secret: () => '',
        },
      ),
      { database: own },
    );
    const signer = options.wrapSigner?.(local) ?? local;
    const { lanes, xpub } = await local.account(NETWORK, AbortSignal.timeout(PATIENCE_MS));
    const driver = await createEvmDriver({ settings, lanes, nowMs: clock.nowMs, callTimeoutMs: 5_000 });
    const adapter = openChain(
      {
        network: NETWORK,
        driver,
        signer,
        lanes,
        account: { xpub: xpub!, derive: await addressesBelow(xpub!) },
        confirmations: settings.policy.depth,
        blockMs: settings.blockMs,
        checkpoint: options.checkpoint,
        leaseMs: options.leaseMs,
      },
      { database: own, writePath, clock, assets, networks: NETWORKS, log: log as never },
    );
    const shared = {
      ...common,
      database: own,
      writePath,
      rails: createRails([adapter.rail], [adapter.notices!]),
    };
    const transfers = createTransfers(shared);
    const deposits = createDeposits({ ...shared, transferById: transfers.byId });
    const { worker, notices: noticeWorker } = createWithdrawals({
      ...shared,
      transfers,
      deposit: deposits.arrivals.arrive,
      returned: () => Promise.reject(new Error('chains return nothing')),
      callsRails: true,
      log: log as never,
      timing: { callTimeoutMs: PATIENCE_MS, offsetNs: () => offsetNs },
    });
    return { ...adapter, driver, writePath, worker, noticeWorker, troubles };
  }

  const first = await createNode();
  const transfers = createTransfers({ ...common, database, writePath: first.writePath });
  const { creation } = createWithdrawals({
    ...common,
    database,
    writePath: first.writePath,
    rails: createRails([first.rail]),
    transfers,
    deposit: () => Promise.reject(new Error('not here')),
    returned: () => Promise.reject(new Error('not here')),
    callsRails: false,
    log: { error: () => undefined, warn: () => undefined } as never,
  });

  async function createProfile(balances: Readonly<Record<string, string>> = {}): Promise<string> {
    const id = newId();
    await database.query(
      `insert into profiles (id, customer_id, nickname, type, created_at_ns) values ($1, $2, $3, 'NORMAL', 0)`,
      [id, caller.customerId, id],
    );
    for (const [asset, text] of Object.entries(balances)) {
      const parsed = assets.parse(asset, text);
      if (!parsed.ok) throw new Error(parsed.message);
      await first.writePath.submit(openingBalance(id, asset, parsed.units));
    }
    return id;
  }

  async function withdraw(profileId: string, asset: string, amount: string, to: string): Promise<Transfer> {
    const request = {
      profile_id: profileId,
      asset,
      amount,
      crypto_network: NETWORK,
      destination_address: to,
    } as const;
    const outcome = await first.writePath.submit(cryptoWithdrawalCommand(caller, request, creation));
    if (outcome.replayed) throw new Error('replayed');
    return outcome.answer;
  }

  /** A deposit address of that profile. */
  async function depositAddress(node: EvmNode, profileId: string): Promise<string> {
    const id = newId();
    const address = await node.rail.depositAddress!(id, AbortSignal.timeout(PATIENCE_MS));
    await database.query(
      `insert into deposit_addresses (id, customer_id, profile_id, crypto_network, address, created_at_ns)
       values ($1, $2, $3, $4, $5, 0)`,
      [id, caller.customerId, profileId, NETWORK, address],
    );
    return address;
  }

  /** Lets time pass for withdrawals, and gives every part of the node a turn. */
  async function turn(node: EvmNode): Promise<void> {
    offsetNs += 10_000n * NS_PER_MS;
    await node.worker.runDue();
    for (const keeper of node.keepers) await keeper.run();
    await node.scanner.run();
    await node.noticeWorker.runDue();
  }

  async function transferOf(id: string): Promise<Transfer> {
    return (await transfers.byId(id))!;
  }

  /** Mines and gives turns until the transfers have ended. */
  async function settle(node: EvmNode, ids: readonly string[], roundsMax = 60): Promise<Transfer[]> {
    for (let round = 0; round < roundsMax; round += 1) {
      await turn(node);
      await anvil.mine(3);
      const found = await Promise.all(ids.map(transferOf));
      if (found.every(({ status }) => status !== 'PENDING')) return found;
    }
    throw new Error(`it does not settle: ${node.troubles.join('; ')}`);
  }

  async function ledger(account: string): Promise<Record<string, bigint>> {
    const rows = await database.query<{ asset: string; units: bigint }>(
      'select asset, sum(delta)::numeric as units from entries where account = $1 group by asset',
      [account],
    );
    return Object.fromEntries(rows.map(({ asset, units }) => [asset, units]));
  }

  async function holdings(node: EvmNode): Promise<Record<string, bigint>> {
    const rows = await database.query<{ address: string }>('select address from chain_addresses');
    const addresses = [LANE, ...rows.map(({ address }) => address)];
    return Object.fromEntries(await node.driver.holdings(addresses, AbortSignal.timeout(PATIENCE_MS)));
  }

  const before = await holdings(first);
  return {
    anvil,
    contracts,
    database,
    node: first,
    createNode,
    settingsOf,
    createProfile,
    withdraw,
    depositAddress,
    turn,
    settle,
    transferOf,
    ledger,
    /** What the wallet gained or lost is what the ledger says has come in or left over this rail. */
    async expectBooked(): Promise<void> {
      const now = await holdings(first);
      const booked = await ledger('clearing:ethereum');
      for (const [asset, units] of Object.entries(now))
        expect({ asset, gained: units - before[asset]! }).toEqual({ asset, gained: -(booked[asset] ?? 0n) });
    },
    async available(profileId: string, asset: string): Promise<string> {
      const [row] = await database.query<{ available: bigint }>(
        'select available from balances where profile_id = $1 and asset = $2',
        [profileId, asset],
      );
      return assets.format(asset, row?.available ?? 0n);
    },
    async drop(): Promise<void> {
      for (const stop of stops) await stop();
      expect((await auditEverything(database, assets, ALL_CHECKS)).violations).toEqual([]);
      await test.drop();
    },
  };
}

export type EvmWorld = Awaited<ReturnType<typeof createEvmWorld>>;
export { startAnvil };
