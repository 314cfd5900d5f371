import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../../database/database.ts';
import { LIMITS } from '../../limits.ts';
import { lockedBalances } from '../balance-rows.ts';
import { balanceKeyText } from '../book.ts';
import type { BalanceKey, Command } from '../command.ts';

/**
 * Balances that another transaction keeps locked, such as a forgotten session or a suspended process. After one batch has
 * waited for the lock, commands on such a balance are refused at once, until that transaction has ended. So other commands
 * are not delayed.
 */
export type StuckBalances = {
  /** Returns a test for commands that cannot be executed now. Queries the database only for balances known to be stuck. */
  blocks(commands: readonly Command<unknown>[]): Promise<(command: Command<unknown>) => boolean>;
  /** After a lock timeout: finds out which balances of these commands are stuck. False if none is. */
  learn(commands: readonly Command<unknown>[]): Promise<boolean>;
};

const NONE = (): boolean => false;

export function createStuckBalances(database: Queryable): StuckBalances {
  /** By balance, the transaction that has locked it. */
  const holders = new Map<string, string>();

  const textOf = ({ profileId, asset }: BalanceKey): string => balanceKeyText(profileId, asset);
  const isStuck = ({ balances }: Command<unknown>): boolean =>
    balances.some((key) => holders.has(textOf(key)));

  function keysOf(commands: readonly Command<unknown>[]): BalanceKey[] {
    const keys = new Map(
      commands.flatMap(({ balances }) => balances.map((key) => [textOf(key), key] as const)),
    );
    return [...keys.values()];
  }

  async function forgetReleased(keys: readonly BalanceKey[]): Promise<void> {
    const locked = await lockedBalances(database, keys);
    for (const key of keys) {
      const text = textOf(key);
      if (holders.get(text) !== locked.get(text)) holders.delete(text);
    }
  }

  return {
    async blocks(commands) {
      if (holders.size === 0) return NONE;
      const known = keysOf(commands).filter((key) => holders.has(textOf(key)));
      if (known.length === 0) return NONE;
      await forgetReleased(known);
      return isStuck;
    },
    async learn(commands) {
      const keys = keysOf(commands);
      const before = await lockedBalances(database, keys);
      // Batches lock and release all the time: a balance is stuck only if the same transaction still has the lock.
      await sleep(LIMITS.stuckLookMs);
      const after = await lockedBalances(database, keys);
      for (const [text, holder] of after) if (before.get(text) === holder) holders.set(text, holder);
      return commands.some(isStuck);
    },
  };
}
