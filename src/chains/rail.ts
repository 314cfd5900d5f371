import { newId } from '../kernel/id.ts';
import { LIMITS } from '../limits.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import type { RailAdapter, RailNode } from '../rails/kind.ts';
import { noticesOf } from '../rails/notice-store.ts';
import { createQueue } from '../rails/payment-store.ts';
import type { Rail } from '../rails/rail.ts';
import { allocateAddress, type Derived } from './address-store.ts';
import { chainBacklogs } from './backlogs.ts';
import type { DepositAccount } from './deposit-account.ts';
import type { Driver } from './driver.ts';
import { type Checkpoint, createKeeper, outgoingOf } from './keeper.ts';
import { createLeasedWorker, type LeasedWorker } from './leased.ts';
import { lastBlock } from './scan-store.ts';
import { createScanner, SCANNER } from './scanner.ts';
import type { Signer } from './signer.ts';

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
};

/** A part of the time between two blocks: nothing changes more often. */
const pauseOf = (blockMs: number): number =>
  Math.min(LIMITS.chainPauseMsMax, Math.max(LIMITS.chainPauseMsMin, blockMs / 4));

function workersOf(options: ChainOptions, node: RailNode) {
  const { network, driver, signer, lanes, confirmations, blockMs, leaseMs, checkpoint } = options;
  const { name: networkName, native } = node.networks.crypto(network);
  const holder = newId();
  const { database, writePath, clock, log } = node;
  const shared = { driver, database, clock };
  const leased = { database, log, pauseMs: pauseOf(blockMs), leaseMs };
  const keepers = lanes.map((lane) => {
    const task = { network, task: lane, holder };
    const facts = { networkName, feeAsset: native.asset, confirmations, blockMs };
    const keeper = createKeeper({ ...shared, signer, writePath, log, task, facts, checkpoint });
    return createLeasedWorker({ ...leased, name: `${network} keeper`, task, turn: keeper.turn });
  });
  const task = { network, task: SCANNER, holder };
  const { walletAddresses = [], hasCoins = false, account } = options;
  const scanner = createScanner({ ...shared, task, confirmations, walletAddresses, account, hasCoins });
  return {
    keepers,
    scanner: createLeasedWorker({
      ...leased,
      pauseMs: options.scanPauseMs ?? leased.pauseMs,
      name: `${network} scanner`,
      task,
      turn: scanner.turn,
    }),
  };
}

export function openChain(options: ChainOptions, node: RailNode): ChainAdapter {
  const { network, driver, account, blockMs } = options;
  const { database, clock, networks } = node;
  const { keepers, scanner } = workersOf(options, node);
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
    workers: [...keepers, scanner],
    backlogs: chainBacklogs(database, network, account?.pool?.length),
    keepers,
    scanner,
  };
}
