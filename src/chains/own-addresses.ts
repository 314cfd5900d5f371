import type { Database } from '../database/database.ts';
import { SLICES } from '../kernel/slices.ts';
import { LIMITS } from '../limits.ts';
import { addressCount, addressesFrom, type Derived, openAccount } from './address-store.ts';
import type { DepositAccount } from './deposit-account.ts';
import type { Received } from './driver.ts';

/**
 * All our addresses in memory: one lookup for each output of a block. Those for deposits are the ones that were handed out, and
 * beside them the ones that a database which was restored from a backup does not know: numbers that were skipped, and some that
 * follow. What those receive goes to suspense.
 */
export function createOwnAddresses(
  database: Database,
  network: string,
  wallet: readonly Derived[],
  account: DepositAccount | undefined,
) {
  const ofWallet = new Set(wallet.map(({ address }) => address));
  const known = new Map(wallet.map(({ address, path }) => [address, path]));
  /** Addresses that were not handed out, with their numbers. */
  const ahead = new Map<string, bigint>();
  /** The first number that was not read from the database. */
  let next = 0n;
  /** The first number that is not watched. */
  let watched = 0n;
  let isOpen = false;

  async function watch(through: bigint): Promise<void> {
    if (account === undefined) return;
    for (; watched < through; watched += 1n) {
      const { address, path } = await account.derive(watched);
      known.set(address, path);
      ahead.set(address, watched);
      if (watched % BigInt(LIMITS.chainAddressSlice) === 0n) await SLICES.next();
    }
  }

  return {
    has: (address: string): boolean => known.has(address),
    pathOf: (address: string): string | undefined => known.get(address),
    isForDeposits: (address: string): boolean => !ofWallet.has(address),
    /** The highest number among those that received something and were not handed out; undefined if there is none. */
    usedThrough(received: readonly Received[]): bigint | undefined {
      let highest: bigint | undefined;
      for (const { address } of received) {
        const number = ahead.get(address);
        if (number !== undefined && (highest === undefined || number > highest)) highest = number;
      }
      return highest;
    },
    /** Before each block, because any node may have handed out an address meanwhile. */
    async refresh(): Promise<void> {
      for (;;) {
        const rows = await addressesFrom(database, network, next, LIMITS.chainAddressPageMax);
        for (const { number, address, path } of rows) {
          await watch(number);
          known.set(address, path);
          ahead.delete(address);
          next = number + 1n;
          if (watched < next) watched = next;
        }
        if (rows.length < LIMITS.chainAddressPageMax) break;
      }
      if (account === undefined) return;
      if (!isOpen) await openAccount(database, network, account.xpub);
      isOpen = true;
      const handedOut = await addressCount(database, network);
      await watch(BigInt(account.pool?.length ?? handedOut + LIMITS.chainAddressesAhead));
    },
  };
}
