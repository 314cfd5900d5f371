import type { Database } from '../database/database.ts';
import { LIMITS } from '../limits.ts';
import { laneState, type Open, openSweeps } from './assignment-store.ts';
import type { BlockId, Draft, Driver, LaneState } from './driver.ts';
import type { Planned } from './keeper.ts';
import { blockAt, lastBlock } from './scan-store.ts';
import type { TreasurySettings } from './treasury-settings.ts';
import { coinUnits, type Held, movableWallets, recordWallets } from './treasury-store.ts';
import { busyAddresses, recordHeld, staleAddresses, worthwhile } from './unswept-store.ts';

/**
 * The wallets of one network. Looks at them at a final block and compares them with the ledger; decides what is swept from deposit
 * addresses, and what goes to the cold wallet. Keepers make the assignments, so every move is committed before it is signed.
 */

export type TreasuryParts = {
  readonly driver: Driver;
  readonly database: Database;
  readonly network: string;
  readonly lanes: readonly string[];
  /** The coin of the network. */
  readonly native: string;
  /** All assets of the network. */
  readonly assets: readonly string[];
  readonly settings: TreasurySettings;
  readonly hasCoins: boolean;
  readonly confirmations: number;
};

export type Treasury = {
  /** The next move of a lane; undefined if there is none now. */
  next(lane: LaneState, signal: AbortSignal): Promise<Draft | undefined>;
  /** The next sweep that a deposit address sends itself. */
  nextSweep(signal: AbortSignal): Promise<Planned | undefined>;
  openSweeps(): Promise<readonly Open[]>;
  /** Looks at the wallets. False if nothing is known to be final yet. */
  look(signal: AbortSignal): Promise<boolean>;
};

/** The last block that is final and scanned. */
async function finalBlock(parts: TreasuryParts, signal: AbortSignal): Promise<BlockId | undefined> {
  const { driver, database, network, confirmations } = parts;
  const scanned = await lastBlock(database, network);
  if (scanned === undefined) return undefined;
  const height =
    driver.final === undefined
      ? (await driver.head(signal)).height - confirmations + 1
      : (await driver.final(signal)).height;
  return height >= scanned.height ? scanned : blockAt(database, network, height);
}

/** More is enough. */
const GAS_PAYMENTS_SHOWN = 1_000_000;

type Marks = Pick<TreasurySettings, 'low' | 'high'>;

const middleOf = ({ low, high }: Marks, asset: string): bigint =>
  ((high.get(asset) ?? 0n) + (low.get(asset) ?? 0n)) / 2n;

/** What is above the high mark goes until the middle between both marks, so that not every deposit is followed by a move. */
export function excessOf(spendable: bigint, marks: Marks, asset: string): bigint {
  const most = marks.high.get(asset);
  if (most === undefined || spendable <= most) return 0n;
  return spendable - middleOf(marks, asset);
}

export function createTreasury(parts: TreasuryParts): Treasury {
  const { driver, database, network, lanes, native, assets, settings, hasCoins } = parts;
  const { treasury } = driver;
  const { coldAddress, sweepMin } = settings;

  const rows = (busy: readonly string[]) =>
    worthwhile(database, network, sweepMin, busy, LIMITS.chainSweepRowsMax);

  async function nextOfLane(lane: LaneState, signal: AbortSignal): Promise<Draft | undefined> {
    // One lane sweeps: two would send the same coins.
    if (treasury?.sweep === undefined || lane.lane !== lanes[0]) return undefined;
    const found = await rows(await busyAddresses(database, network));
    if (found.length === 0) return undefined;
    if (treasury.addressesPay !== true) {
      const plan = await treasury.sweep(lane, found, lane.lane, signal);
      return plan.kind === 'assign' ? plan.draft : undefined;
    }
    for (const row of found) {
      const plan = await treasury.fund!(lane, row, signal);
      if (plan?.kind === 'assign') return plan.draft;
    }
    return undefined;
  }

  /** Of several lanes, each gives what it holds beyond its share. */
  async function partOf(lane: LaneState, asset: string, units: bigint, signal: AbortSignal): Promise<bigint> {
    if (lanes.length === 1) return units;
    const held = (await driver.holdings([lane.lane], signal)).get(asset) ?? 0n;
    const leaving = lane.open
      .flatMap(({ payments }) => payments)
      .filter((one) => one.asset === asset)
      .reduce((sum, one) => sum + one.units, 0n);
    const most = held - leaving - middleOf(settings, asset) / BigInt(lanes.length);
    return most < units ? most : units;
  }

  async function nextToCold(lane: LaneState, signal: AbortSignal): Promise<Draft | undefined> {
    if (treasury === undefined || coldAddress === undefined) return undefined;
    for (const { asset, hotUnits, leavingUnits } of await movableWallets(database, network)) {
      const excess = excessOf(hotUnits - leavingUnits, settings, asset);
      if (excess === 0n) continue;
      const units = await partOf(lane, asset, excess, signal);
      if (units <= 0n) continue;
      const plan = await treasury.toCold(lane, { asset, units, address: coldAddress }, signal);
      if (plan.kind === 'assign') return plan.draft;
    }
    return undefined;
  }

  async function readStale(at: BlockId, signal: AbortSignal): Promise<void> {
    const busy = await busyAddresses(database, network);
    const addresses = await staleAddresses(database, network, at.height, busy, LIMITS.chainHeldMax);
    for (const address of addresses)
      await recordHeld(database, network, address, await driver.holdings([address], signal, at), at.height);
  }

  async function unitsOf(
    isCold: boolean,
    at: BlockId,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, bigint>> {
    if (hasCoins) return new Map([[native, await coinUnits(database, network, at.height, isCold)]]);
    return driver.holdings(isCold ? [coldAddress!] : lanes, signal, at);
  }

  /** Payments whose fee the poorest lane can pay. */
  async function gasPayments(hot: ReadonlyMap<string, bigint>, at: BlockId, signal: AbortSignal) {
    const quote = await driver.quote(native, signal);
    if (quote === undefined || quote === 0n) return null;
    const each =
      lanes.length === 1
        ? [hot]
        : await Promise.all(lanes.map((lane) => driver.holdings([lane], signal, at)));
    const counts = each.map((one) => Number((one.get(native) ?? 0n) / quote));
    return Math.min(GAS_PAYMENTS_SHOWN, ...counts);
  }

  return {
    next: async (lane, signal) => (await nextOfLane(lane, signal)) ?? (await nextToCold(lane, signal)),
    openSweeps: () => openSweeps(database, network, lanes, LIMITS.chainOpenMax),
    async nextSweep(signal) {
      const busy = await busyAddresses(database, network);
      if (treasury?.sweep === undefined || busy.length >= LIMITS.chainSweepsMax) return undefined;
      for (const row of await rows(busy)) {
        const state = await laneState(database, network, row.address, [], 0);
        const plan = await treasury.sweep(state, [row], lanes[0]!, signal);
        if (plan.kind === 'assign') return { lane: row.address, draft: plan.draft };
      }
      return undefined;
    },
    async look(signal) {
      const at = await finalBlock(parts, signal);
      if (at === undefined) return false;
      if (!hasCoins) await readStale(at, signal);
      const hot = await unitsOf(false, at, signal);
      const cold = coldAddress === undefined ? undefined : await unitsOf(true, at, signal);
      const gas = await gasPayments(hot, at, signal);
      const held = assets.map(
        (asset): Held => ({
          asset,
          hotUnits: hot.get(asset) ?? 0n,
          coldUnits: cold === undefined ? null : (cold.get(asset) ?? 0n),
          gasPayments: asset === native ? gas : null,
        }),
      );
      await recordWallets(database, network, at, held);
      return true;
    },
  };
}
