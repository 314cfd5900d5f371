import { newId } from '../kernel/id.ts';
import { LIMITS } from '../limits.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import type { RailAdapter, RailNode } from '../rails/kind.ts';
import { noticesOf } from '../rails/notice-store.ts';
import { createQueue } from '../rails/payment-store.ts';
import type { Rail } from '../rails/rail.ts';
import { type RailTreasury, RefillRefused } from '../rails/treasury.ts';
import { allocateAddress, type Derived } from './address-store.ts';
import { chainBacklogs } from './backlogs.ts';
import { cancel } from './cancel.ts';
import type { DepositAccount } from './deposit-account.ts';
import type { Driver } from './driver.ts';
import { type Checkpoint, createKeeper, type KeeperParts, outgoingOf } from './keeper.ts';
import { listStops } from './lease-store.ts';
import { createLeasedWorker, type LeasedWorker } from './leased.ts';
import { lastBlock } from './scan-store.ts';
import { createScanner, SCANNER } from './scanner.ts';
import type { Signer } from './signer.ts';
import { createTreasury, type Treasury } from './treasury.ts';
import { NO_TREASURY, type TreasurySettings } from './treasury-settings.ts';
import { coldCoins, readWallets } from './treasury-store.ts';

/** A chain as a rail: one keeper for each lane, and one scanner. */
export type ChainOptions = {
  readonly network: CryptoNetwork;
  readonly driver: Driver;
  readonly signer: Signer;
  readonly lanes: readonly string[];
  /** Absent if deposits are not taken on this network. */
  readonly account?: DepositAccount | undefined;
  /** Addresses of the wallet that are not for deposits, such as that for the change. */
  readonly walletAddresses?: readonly Derived[];
  /** Whether the wallet spends outputs (UTXO networks). */
  readonly hasCoins?: boolean;
  /** Marks, the cold address, and what is swept. */
  readonly treasury?: TreasurySettings;
  /** How often wallets are looked at. */
  readonly movesMs?: number | undefined;
  /** What the rail can say beyond that. */
  readonly rentOf?: NonNullable<Rail['rentOf']>;
  readonly isAddress?: NonNullable<Rail['isAddress']>;
  readonly confirmations: number;
  readonly blockMs: number;
  /** How long the scanner pauses when it has read all blocks, if that is not a part of the time between two blocks. */
  readonly scanPauseMs?: number | undefined;
  readonly leaseMs?: number | undefined;
  readonly checkpoint?: ((name: Checkpoint, id: string) => Promise<void>) | undefined;
};

export type ChainAdapter = RailAdapter & {
  readonly keepers: readonly LeasedWorker[];
  readonly scanner: LeasedWorker;
  /** Looks at the wallets. */
  readonly wallets: LeasedWorker;
};

/** A part of the time between two blocks: nothing changes more often. */
const pauseOf = (blockMs: number): number =>
  Math.min(LIMITS.chainPauseMsMax, Math.max(LIMITS.chainPauseMsMin, blockMs / 4));

/** Tasks beside lanes and the scanner: sweeps that deposit addresses send themselves, and the look at all wallets. */
const SWEEPER = 'sweeper';
const WALLETS = 'wallets';

function treasuryOf(options: ChainOptions, { database, networks, assets }: RailNode): Treasury {
  const {
    network,
    driver,
    lanes,
    confirmations,
    hasCoins = false,
    treasury: settings = NO_TREASURY,
  } = options;
  const native = networks.crypto(network).native.asset;
  const codes = assets.list
    .filter(({ networks: homes }) => homes[network] !== undefined)
    .map(({ code }) => code);
  const all = [...new Set([native, ...codes])];
  return createTreasury({
    driver,
    database,
    network,
    lanes,
    native,
    assets: all,
    settings,
    hasCoins,
    confirmations,
  });
}

function workersOf(options: ChainOptions, node: RailNode) {
  const { network, driver, signer, lanes, confirmations, blockMs, leaseMs, checkpoint, movesMs } = options;
  const { name: networkName, native } = node.networks.crypto(network);
  const feeAsset = native.asset;
  const holder = newId();
  const { database, writePath, clock, log } = node;
  const shared = { driver, database, writePath, clock };
  const leased = { database, log, pauseMs: pauseOf(blockMs), leaseMs };
  const treasury = treasuryOf(options, node);
  const facts = { networkName, feeAsset, confirmations, blockMs };
  const keeping = { ...shared, signer, log, facts, checkpoint, movesMs };
  const keeperOf = (name: string, own: Pick<KeeperParts, 'moves' | 'sweeps'>): LeasedWorker => {
    const task = { network, task: name, holder };
    const keeper = createKeeper({ ...keeping, ...own, task });
    return createLeasedWorker({ ...leased, name: `${network} keeper`, task, turn: keeper.turn });
  };
  const task = { network, task: SCANNER, holder };
  const { walletAddresses = [], hasCoins = false, account } = options;
  const scanner = createScanner({
    ...shared,
    task,
    feeAsset,
    confirmations,
    walletAddresses,
    account,
    hasCoins,
  });
  const isSweeping = driver.treasury?.addressesPay === true && (options.treasury?.sweepMin.size ?? 0) > 0;
  return {
    keepers: [
      ...lanes.map((lane) => keeperOf(lane, { moves: treasury })),
      ...(isSweeping
        ? [keeperOf(SWEEPER, { sweeps: { open: treasury.openSweeps, next: treasury.nextSweep } })]
        : []),
    ],
    scanner: createLeasedWorker({
      ...leased,
      pauseMs: options.scanPauseMs ?? leased.pauseMs,
      name: `${network} scanner`,
      task,
      turn: scanner.turn,
    }),
    wallets: createLeasedWorker({
      ...leased,
      name: `${network} wallets`,
      task: { network, task: WALLETS, holder },
      turn: lookingAt(treasury, movesMs ?? LIMITS.chainMovesMs),
    }),
  };
}

/** Not before the scanner has started, and then from time to time. */
function lookingAt(treasury: Treasury, everyMs: number) {
  let dueAt = 0;
  return async (signal: AbortSignal): Promise<boolean> => {
    if (performance.now() >= dueAt && (await treasury.look(signal))) dueAt = performance.now() + everyMs;
    return false;
  };
}

function railTreasury(options: ChainOptions, { database, networks }: RailNode): RailTreasury {
  const { network, driver, signer, lanes, treasury: settings = NO_TREASURY } = options;
  const { coldAddress, low, high } = settings;
  const feeAsset = networks.crypto(network).native.asset;
  return {
    rail: network,
    feeAsset,
    coldAddress,
    async wallets() {
      const rows = await readWallets(database, network, feeAsset);
      return rows.map((row) => ({
        ...row,
        lowMarkUnits: low.get(row.asset),
        highMarkUnits: high.get(row.asset),
      }));
    },
    stops: () => listStops(database, network),
    cancel: (order, signal) => {
      const taskOf = ({ lane }: { readonly lane: string }) => (lanes.includes(lane) ? lane : SWEEPER);
      return cancel({ database, signer, network, feeAsset, taskOf }, order, signal);
    },
    async refill(asset, units, signal) {
      if (coldAddress === undefined || driver.treasury === undefined)
        throw new RefillRefused(`${network} has no cold_address in the configuration.`);
      const coins = options.hasCoins ? await coldCoins(database, network, LIMITS.chainCoinsMax) : [];
      return driver.treasury.refill({ asset, units, cold: coldAddress, to: lanes[0]!, coins }, signal);
    },
  };
}

export function openChain(options: ChainOptions, node: RailNode): ChainAdapter {
  const { network, driver, account, blockMs } = options;
  const { database, clock, networks } = node;
  const cold = options.treasury?.coldAddress;
  if (cold !== undefined && options.lanes.includes(cold))
    throw new Error(`cold_address of ${network} is an address of the hot wallet: ${cold}`);
  const { keepers, scanner, wallets } = workersOf(options, node);
  const { native } = networks.crypto(network);
  const queue = createQueue({
    database,
    name: network,
    now: () => clock.now(),
    nextAskMs: pauseOf(blockMs),
    ...(driver.fault !== undefined && {
      fault: (payment, signal) => driver.fault!(outgoingOf(payment), signal),
    }),
    accepted: () => {
      for (const keeper of keepers) keeper.wake();
    },
  });
  const rail: Rail = {
    name: network,
    // An insert that has not ended by then was refused by the server.
    horizonMs: LIMITS.answerTimeoutMs + LIMITS.statementTimeoutMs,
    ...queue,
    ...(options.rentOf !== undefined && { rentOf: options.rentOf }),
    ...(options.isAddress !== undefined && { isAddress: options.isAddress }),
    // The quote is in the native coin: it says nothing about a token without a price.
    quoteFee: async (asset, signal) => (asset === native.asset ? driver.quote(asset, signal) : undefined),
    ...(account !== undefined && {
      async depositAddress(id: string) {
        // A payment to the address before the first block that is scanned would not be found.
        if ((await lastBlock(database, network)) === undefined)
          throw new Error(`the scanner of ${network} has not started yet`);
        return allocateAddress(database, network, id, account.xpub, account.derive);
      },
    }),
  };
  return {
    rail,
    notices: noticesOf(database, network),
    treasury: railTreasury(options, node),
    workers: [...keepers, scanner, wallets],
    backlogs: chainBacklogs(database, network, account?.pool?.length),
    keepers,
    scanner,
    wallets,
  };
}
