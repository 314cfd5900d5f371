import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../../database/database.ts';
import { LIMITS } from '../../limits.ts';
import { balanceKeyText } from '../book.ts';
import type { BalanceKey, Command } from '../command.ts';
import { lockedBalances } from '../store.ts';

/**
 * Balances that some transaction holds on to: a forgotten session, a process that is frozen. A batch has waited for the
 * lock once; from then on commands on such a balance are refused at once, and everybody else is not held up, until the
 * transaction has ended.
 */
export type StuckBalances = {
  /** True for a command that cannot be executed now. Asks the database only about balances known to be stuck. */
  blocks(commands: readonly Command<unknown>[]): Promise<(command: Command<unknown>) => boolean>;
  /** After a wait that was in vain: finds out which balances of these commands are stuck. False when none is. */
  learn(commands: readonly Command<unknown>[]): Promise<boolean>;
};

const NONE = (): boolean => false;

export function createStuckBalances(database: Queryable): StuckBalances {
  /** By balance, the transaction that holds it. */
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
      // Batches lock and release in turn: only a transaction that is still the same one is stuck.
      await sleep(LIMITS.stuckLookMs);
      const after = await lockedBalances(database, keys);
      for (const [text, holder] of after) if (before.get(text) === holder) holders.set(text, holder);
      return commands.some(isStuck);
    },
  };
}
