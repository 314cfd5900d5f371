import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../database/database.ts';
import type { Clock } from '../../kernel/clock.ts';
import { type Instant, NS_PER_MS } from '../../kernel/instant.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Command } from '../../ledger/command.ts';
import type { WritePath } from '../../ledger/write-path.ts';
import { LIMITS } from '../../limits.ts';
import { checkReachable } from '../engine-store.ts';
import type { Settlement } from '../transaction.ts';
import type { SetAside } from './set-aside.ts';

type CommandOf = (some: readonly Settlement[]) => Command<Settlement[]>;

/** Submits a command for each group. Resolves with the transactions that the commands changed. */
export type SubmitGroups = (
  groups: readonly (readonly Settlement[])[],
  commandOf: CommandOf,
) => Promise<Settlement[]>;

export type SubmitterDependencies = {
  readonly database: Database;
  readonly writePath: WritePath;
  readonly clock: Clock;
  readonly setAside: Pick<SetAside, 'add'>;
};

const URGENT_NS = BigInt(LIMITS.settlementUrgentMs) * NS_PER_MS;

/** A window ends soon, and has not ended yet. */
function isUrgent(group: readonly Settlement[], now: Instant): boolean {
  return group.some(({ windowEndNs }) => windowEndNs > now && windowEndNs < now + URGENT_NS);
}

export function createSubmitter(dependencies: SubmitterDependencies): SubmitGroups {
  const { database, writePath, clock, setAside } = dependencies;

  /** A command that is refused or throws is split, so that one transaction cannot block others. */
  async function submit(many: readonly Settlement[], commandOf: CommandOf): Promise<Settlement[]> {
    try {
      const outcome = await writePath.submit(commandOf(many));
      return outcome.replayed ? [] : outcome.answer;
    } catch (error) {
      if (error instanceof Problem && error.slug === 'unavailable') {
        // Either the database is unavailable, and nothing can be done; or another session keeps a balance locked. Then
        // splitting the command would make each part wait for that lock again.
        await checkReachable(database);
        setAside.add(many, error, LIMITS.settlementBusyMs);
        return [];
      }
      if (many.length > 1) {
        const done: Settlement[] = [];
        for (const one of many) done.push(...(await submit([one], commandOf)));
        return done;
      }
      setAside.add(many, error, LIMITS.settlementSetAsideMs);
      return [];
    }
  }

  /** Bulk work pauses after each command, so that other commands are not delayed, unless a window ends soon. */
  return async (groups, commandOf) => {
    const done: Settlement[] = [];
    let tookMs = 0;
    for (const group of groups) {
      if (tookMs > 0 && !isUrgent(group, clock.now())) await sleep(tookMs * LIMITS.settlementBulkPause);
      const started = performance.now();
      done.push(...(await submit(group, commandOf)));
      tookMs = performance.now() - started;
    }
    return done;
  };
}
