import type { Database } from '../database/database.ts';
import type { Clock } from '../kernel/clock.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { LIMITS } from '../limits.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import { appendReports, type Report } from '../rails/notice-store.ts';
import { type Derived, passAddresses } from './address-store.ts';
import { movesAmong } from './assignment-store.ts';
import { insertCoins, removeCoins } from './coin-store.ts';
import type { DepositAccount } from './deposit-account.ts';
import { type BlockId, ChainWait, type Driver, reached } from './driver.ts';
import { endStop, fenced, findStop, recordStop, type StopCode, type Task } from './lease-store.ts';
import { createOwnAddresses } from './own-addresses.ts';
import { bookRefill } from './refill.ts';
import { dueRefills, insertRefills, removeRefills } from './refill-store.ts';
import * as store from './scan-store.ts';
import { noteArrivals } from './unswept-store.ts';

/**
 * Scans one network, block by block. What blocks pay to our addresses is recorded at once, and reported when the block is final by
 * the policy. A block whose parent is another one than the last that was scanned shows a reorganisation: the scanner goes back,
 * block by block, to the last one that is still there.
 */
export const SCANNER = 'scanner';

export type ScannerParts = {
  readonly driver: Driver;
  readonly database: Database;
  /** Books what arrives from the cold wallet. */
  readonly writePath: WritePath;
  readonly clock: Clock;
  readonly task: Task & { readonly network: CryptoNetwork };
  /** The coin of the network. */
  readonly feeAsset: string;
  readonly confirmations: number;
  /** Addresses of the wallet that are not for deposits, such as that for the change. */
  readonly walletAddresses: readonly Derived[];
  /** Where deposit addresses come from; absent if deposits are not taken. */
  readonly account: DepositAccount | undefined;
  /** Whether the wallet spends outputs, which are then remembered one by one. */
  readonly hasCoins: boolean;
};

export type Scanner = {
  turn(signal: AbortSignal): Promise<boolean>;
};

export function createScanner(parts: ScannerParts): Scanner {
  const { driver, database, writePath, clock, task, feeAsset, confirmations, hasCoins } = parts;
  const { network } = task;
  const own = createOwnAddresses(database, network, parts.walletAddresses, parts.account);

  const stop = (code: StopCode, reason: string): Promise<void> =>
    fenced(database, task, (tx) =>
      recordStop(tx, task, { code, reason, needsOperator: code === 'deep-reorg' }),
    );

  async function finalBlock(signal: AbortSignal): Promise<BlockId> {
    if (driver.final !== undefined) return reached(driver.final(signal), signal);
    const { height } = await reached(driver.head(signal), signal);
    const first = Math.max(0, height - confirmations + 1);
    return (
      (await store.blockAt(database, network, first)) ??
      (await reached(
        driver.block(first, () => false, signal),
        signal,
      ))
    );
  }

  /** The first block is not scanned: no address is handed out before it is known. */
  async function begin(signal: AbortSignal): Promise<BlockId> {
    const first = await finalBlock(signal);
    await fenced(database, task, (tx) => store.insertBlock(tx, network, first));
    return first;
  }

  /** The block before, or undefined if the chain has changed more deeply than is remembered. */
  async function goBack(last: BlockId): Promise<BlockId | undefined> {
    const reported = await fenced(database, task, async (tx) => {
      if (hasCoins) await removeCoins(tx, network, last.height);
      await removeRefills(tx, network, last.height);
      return store.removeBlock(tx, network, last);
    });
    if (reported > 0)
      await stop(
        'deep-reorg',
        `block ${last.height} (${last.hash}) is gone, and ${reported} of its deposits were reported`,
      );
    return store.lastBlock(database, network);
  }

  /** Whether the last block that was scanned is still on the best chain, as far as the head shows it. */
  async function isGone(last: BlockId, head: BlockId): Promise<boolean> {
    if (head.height > last.height) return false;
    const same = await store.blockAt(database, network, head.height);
    return same !== undefined && same.hash !== head.hash;
  }

  async function scan(final: BlockId, signal: AbortSignal): Promise<boolean> {
    const head = driver.readsOnlyFinal === true ? final : await reached(driver.head(signal), signal);
    let last = (await store.lastBlock(database, network)) ?? (await begin(signal));
    for (let count = 0; count < LIMITS.chainScanBlocksMax; count += 1) {
      const isShorter = await isGone(last, head);
      if (!isShorter && last.height >= head.height) return count > 0;
      await own.refresh();
      const block = isShorter
        ? undefined
        : await reached(driver.block(last.height + 1, own.has, signal), signal);
      if (block !== undefined && block.parentHash === last.hash) {
        await fenced(database, task, async (tx) => {
          await store.insertBlock(tx, network, block);
          const moves = await movesAmong(tx, network, block.received);
          const received = block.received.filter(
            ({ address, txHash }) => own.isForDeposits(address) && !moves.has(txHash),
          );
          await store.insertDeposits(tx, network, { ...block, received });
          const used = own.usedThrough(received);
          if (used !== undefined) await passAddresses(tx, network, used + 1n);
          if (hasCoins) await insertCoins(tx, network, block, own.pathOf);
          else await noteArrivals(tx, network, block.height, received, own.pathOf);
          // After the coins: the fee of a refill is what is missing of those that it spends.
          const refills = (block.refills ?? []).filter(
            ({ address }) => address === undefined || !own.isForDeposits(address),
          );
          await insertRefills(tx, network, feeAsset, { height: block.height, refills });
        });
        last = { height: block.height, hash: block.hash };
      } else {
        const before = await goBack(last);
        if (before === undefined) {
          await stop(
            'deep-reorg',
            `no block that was scanned before ${last.height} is on the chain any longer`,
          );
          return false;
        }
        last = before;
      }
    }
    return true;
  }

  /**
   * Up to which height what was scanned is final; undefined if nothing is known to be. A scanner that is behind the final block
   * reports what it has only if the driver reads nothing but final blocks.
   */
  async function reportable(final: BlockId): Promise<number | undefined> {
    const scanned = await store.blockAt(database, network, final.height);
    if (scanned !== undefined) return scanned.hash === final.hash ? final.height : undefined;
    const last = await store.lastBlock(database, network);
    const isBehind = last !== undefined && last.height < final.height;
    return isBehind && driver.readsOnlyFinal === true ? last.height : undefined;
  }

  /** Reports what is final. The blocks up to there are those of the nodes, because the last one is, and each names its parent. */
  async function report(final: BlockId, signal: AbortSignal): Promise<boolean> {
    const height = await reportable(final);
    if (height === undefined) return false;
    const due = await store.dueDeposits(database, network, height, LIMITS.chainReportsMax);
    for (const [at, deposits] of Map.groupBy(due, (one) => one.height)) {
      const block = await store.blockAt(database, network, at);
      if (block !== undefined && driver.confirm !== undefined) {
        const all = await store.depositsAt(database, network, at);
        await reached(driver.confirm(block, all, signal), signal);
      }
      await fenced(database, task, async (tx) => {
        await appendReports(tx, network, deposits.map(reportOf), clock.now());
        await store.markReported(tx, network, deposits);
      });
    }
    const refills = await dueRefills(database, network, height, LIMITS.chainReportsMax);
    for (const id of refills) await writePath.submit(bookRefill(id));
    await store.forgetBlocks(database, network, final.height - LIMITS.chainBlocksKept);
    return due.length + refills.length > 0;
  }

  function reportOf(deposit: store.DueDeposit): Report {
    const { height: _, units: amountUnits, ...others } = deposit;
    return {
      sourceKey: `${deposit.txHash} ${store.placeOf(deposit)}`,
      notice: { about: 'deposit', deposit: { rail: network, amountUnits, ...others } },
    };
  }

  return {
    async turn(signal) {
      const stopped = await findStop(database, task);
      if (stopped?.needsOperator === true) return false;
      try {
        // First: blocks come while others are scanned, and on a fast chain the newest final one would never be scanned yet.
        const final = await finalBlock(signal);
        const hasScanned = await scan(final, signal);
        const hasReported = await report(final, signal);
        if (stopped !== undefined) await endStop(database, task);
        return hasScanned || hasReported;
      } catch (error) {
        if (!(error instanceof ChainWait)) throw error;
        await stop(error.code, error.message);
        return false;
      }
    },
  };
}
