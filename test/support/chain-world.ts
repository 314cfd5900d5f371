import { expect } from 'vitest';
import type { Driver } from '../../src/chains/driver.ts';
import type { Checkpoint } from '../../src/chains/keeper.ts';
import type { ChainAdapter } from '../../src/chains/rail.ts';
import type { Signer } from '../../src/chains/signer.ts';
import type { TreasurySettings } from '../../src/chains/treasury-settings.ts';
import type { Database } from '../../src/database/database.ts';
import { createDeposits } from '../../src/deposits/capability.ts';
import { createPriceTable, SANDBOX_PRICES } from '../../src/fees/prices.ts';
import { createFeeSchedule } from '../../src/fees/schedule.ts';
import type { Assets } from '../../src/kernel/asset.ts';
import { newId } from '../../src/kernel/id.ts';
import { NS_PER_MS } from '../../src/kernel/instant.ts';
import type { Caller } from '../../src/kernel/route.ts';
import { ALL_CHECKS, auditEverything } from '../../src/ledger/audit.ts';
import type { WritePath } from '../../src/ledger/write-path.ts';
import type { CryptoNetwork } from '../../src/networks/crypto.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import { policySetOf } from '../../src/policies/store.ts';
import type { RailNode } from '../../src/rails/kind.ts';
import { createRails } from '../../src/rails/rail.ts';
import { SHARED_TABLES } from '../../src/tables.ts';
import { createTransfers } from '../../src/transfers/capability.ts';
import type { Transfer } from '../../src/transfers/transfer.ts';
import { createWithdrawals } from '../../src/withdrawals/capability.ts';
import { cryptoWithdrawalCommand } from '../../src/withdrawals/crypto.ts';
import { createTestDatabase } from './database.ts';
import { openingBalance } from './funding.ts';
import { createTestWritePath } from './ledger.ts';
import { PATIENCE_MS } from './until.ts';
import { connectUnlocked } from './vault.ts';
import { withoutApproval } from './without-approval.ts';

/** The service without HTTP on a real chain of any family. Nothing runs by itself: a test gives turns. */

export type NodeOptions<Settings> = {
  readonly settings?: Partial<Settings>;
  readonly checkpoint?: (name: Checkpoint, id: string) => Promise<void>;
  readonly wrapSigner?: (signer: Signer) => Signer;
  readonly leaseMs?: number;
  /** Wallets are looked at, and moves between them are made, in every turn. */
  readonly treasury?: TreasurySettings;
};

/** What a family has to say. */
export type ChainUnderTest<Settings, OwnDriver extends Driver> = {
  readonly network: CryptoNetwork;
  readonly assets: Assets;
  readonly feeSchedule: Parameters<typeof createFeeSchedule>[2];
  readonly rentLamportsPerDayMax?: bigint;
  /** Addresses that hold money beside those for deposits. */
  readonly wallet: readonly string[];
  open(
    options: NodeOptions<Settings>,
    node: RailNode,
  ): Promise<{ readonly adapter: ChainAdapter; readonly driver: OwnDriver }>;
  /** Lets blocks come. */
  pass(): Promise<unknown>;
  readonly roundsMax?: number;
};

export type ChainNode<OwnDriver> = ChainAdapter & {
  readonly driver: OwnDriver;
  readonly writePath: WritePath;
  readonly worker: { runDue(): Promise<number> };
  readonly noticeWorker: { runDue(): Promise<number> };
  readonly troubles: string[];
};

const noted = (troubles: string[]) => ({
  info: () => undefined,
  error: (_: object, what?: string) => void troubles.push(what!),
  warn: (facts: { err?: Error }, what?: string) => void troubles.push(`${what}: ${facts.err?.message}`),
});

export async function createChainWorld<Settings, OwnDriver extends Driver>(
  under: ChainUnderTest<Settings, OwnDriver>,
) {
  const { network, assets } = under;
  const test = await createTestDatabase();
  const { database } = test;
  const caller: Caller = {
    customerId: newId(),
    clientId: 'test',
    scopes: new Set(),
    integration: 'FIRST_PARTY',
  };
  let offsetNs = 0n;
  const common = {
    ...SHARED_TABLES,
    assets,
    networks: NETWORKS,
    prices: createPriceTable(SANDBOX_PRICES),
    policiesOf: (customerId: string) => policySetOf(database, customerId),
    screen: async () => ({ kind: 'held', reason: 'no hook' }) as const,
    schedule: createFeeSchedule(NETWORKS, assets, under.feeSchedule),
    rentLamportsPerDayMax: under.rentLamportsPerDayMax ?? 0n,
  };
  const stops: (() => Promise<void>)[] = [];

  async function createNode(
    options: NodeOptions<Settings> = {},
    own: Database = connectUnlocked(test.address, 6),
  ): Promise<ChainNode<OwnDriver>> {
    const writePath = createTestWritePath(own, assets);
    stops.push(async () => {
      await writePath.stop();
      await own.close();
    });
    const troubles: string[] = [];
    const log = noted(troubles) as never;
    const clock = { now: () => BigInt(Date.now()) * NS_PER_MS, nowMs: () => Date.now() };
    const node = { database: own, writePath, clock, assets, networks: NETWORKS, log };
    const { adapter, driver } = await under.open(options, node);
    const rails = createRails([adapter.rail], [adapter.notices!]);
    const shared = { ...common, database: own, writePath, rails };
    const transfers = createTransfers(shared);
    const deposits = createDeposits({ ...shared, transferById: transfers.byId });
    const { worker, notices: noticeWorker } = createWithdrawals({
      declare: withoutApproval,
      ...shared,
      transfers,
      deposit: deposits.arrivals.arrive,
      returned: () => Promise.reject(new Error('chains return nothing')),
      callsRails: true,
      log,
      timing: { callTimeoutMs: PATIENCE_MS, offsetNs: () => offsetNs },
    });
    return { ...adapter, driver, writePath, worker, noticeWorker, troubles };
  }

  const first = await createNode();
  const transfers = createTransfers({ ...common, database, writePath: first.writePath });
  const { creation } = createWithdrawals({
    declare: withoutApproval,
    ...common,
    database,
    writePath: first.writePath,
    rails: createRails([first.rail]),
    transfers,
    deposit: () => Promise.reject(new Error('not here')),
    returned: () => Promise.reject(new Error('not here')),
    callsRails: false,
    log: noted([]) as never,
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
      crypto_network: network,
      destination_address: to,
    } as const;
    const outcome = await first.writePath.submit(
      cryptoWithdrawalCommand(caller, request, await policySetOf(database, caller.customerId), creation),
    );
    if (outcome.replayed) throw new Error('replayed');
    return outcome.answer;
  }

  /** A deposit address of that profile. */
  async function depositAddress(node: ChainNode<OwnDriver>, profileId: string): Promise<string> {
    const id = newId();
    const address = await node.rail.depositAddress!(id, AbortSignal.timeout(PATIENCE_MS));
    await database.query(
      `insert into deposit_addresses (id, customer_id, profile_id, crypto_network, address, created_at_ns)
       values ($1, $2, $3, $4, $5, 0)`,
      [id, caller.customerId, profileId, network, address],
    );
    return address;
  }

  /** Lets time pass for withdrawals, and gives every part of the node a turn. */
  async function turn(node: ChainNode<OwnDriver>): Promise<void> {
    offsetNs += 10_000n * NS_PER_MS;
    await node.worker.runDue();
    for (const keeper of node.keepers) await keeper.run();
    await node.scanner.run();
    await node.noticeWorker.runDue();
  }

  async function transferOf(id: string): Promise<Transfer> {
    return (await transfers.byId(id))!;
  }

  /** Lets blocks come and gives turns until the transfers have ended. */
  async function settle(
    node: ChainNode<OwnDriver>,
    ids: readonly string[],
    roundsMax = under.roundsMax ?? 60,
  ): Promise<Transfer[]> {
    for (let round = 0; round < roundsMax; round += 1) {
      await turn(node);
      await under.pass();
      const found = await Promise.all(ids.map(transferOf));
      if (found.every(({ status }) => status !== 'PENDING')) return found;
    }
    const rows = await database.query<{ reason: string }>('select reason from chain_stops');
    const reasons = rows.map(({ reason }) => reason);
    throw new Error(`it does not settle: ${[...reasons, ...node.troubles].join('; ')}`);
  }

  async function ledger(account: string): Promise<Record<string, bigint>> {
    const rows = await database.query<{ asset: string; units: bigint }>(
      'select asset, sum(delta)::numeric as units from entries where account = $1 group by asset',
      [account],
    );
    return Object.fromEntries(rows.map(({ asset, units }) => [asset, units]));
  }

  async function holdings(node: ChainNode<OwnDriver>): Promise<Record<string, bigint>> {
    const rows = await database.query<{ address: string }>('select address from chain_addresses');
    const addresses = [...under.wallet, ...rows.map(({ address }) => address)];
    return Object.fromEntries(await node.driver.holdings(addresses, AbortSignal.timeout(PATIENCE_MS)));
  }

  const before = await holdings(first);
  return {
    database,
    node: first,
    createNode,
    connect: (connectionsMax: number) => connectUnlocked(test.address, connectionsMax),
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
      const booked = await ledger(`clearing:${network.toLowerCase()}`);
      for (const { code } of assets.list.filter(({ networks }) => networks[network] !== undefined))
        expect({ asset: code, gained: (now[code] ?? 0n) - (before[code] ?? 0n) }).toEqual({
          asset: code,
          gained: -(booked[code] ?? 0n),
        });
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
