import type { Database } from '../database/database.ts';
import { type Repeated, repeat } from '../kernel/repeat.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { LIMITS } from '../limits.ts';
import type { ArrivedDeposit, Notice, NoticeSource, Rails } from '../rails/rail.ts';
import { endCommand, failedByRail, type OutcomeTables } from './outcome.ts';
import { transferById } from './store.ts';

type Dependencies = {
  readonly database: Database;
  readonly writePath: WritePath;
  readonly rails: Rails;
  readonly tables: OutcomeTables;
  readonly deposit: (arrived: ArrivedDeposit) => Promise<unknown>;
  readonly trouble: (what: string, facts: object) => void;
  readonly failed: (error: unknown) => void;
  readonly now?: () => number;
};

export type NoticeWorker = Pick<Repeated, 'start' | 'stop'> & {
  /** Takes what rails have said by themselves. Says how many notices there were. */
  runDue(): Promise<number>;
};

/**
 * What rails say without being asked. A notice is acknowledged after it is committed, so after a crash it comes again;
 * nothing is posted twice, since a withdrawal ends once and a deposit has a key of its own.
 */
export function createNoticeWorker(dependencies: Dependencies): NoticeWorker {
  const { database, writePath, rails, tables, trouble, failed } = dependencies;
  const now = dependencies.now ?? performance.now.bind(performance);
  /** Those that failed, which sources give out again and again before all others: when to try each once more. */
  const resting = new Map<NoticeSource, Map<string, { failures: number; untilMs: number }>>(
    rails.notices.map((source) => [source, new Map()]),
  );

  async function payment(notice: Extract<Notice, { about: 'payment' }>): Promise<void> {
    const { rail, key, state } = notice;
    const transfer = await transferById(database, key);
    if (transfer === undefined) return trouble('a rail speaks of a payment that is not ours', { rail, key });
    const ending = state.kind === 'completed' ? state : failedByRail(state.reason);
    const outcome = await writePath.submit(endCommand(transfer, { rail, ending }, tables));
    if (!outcome.replayed && outcome.answer.effect === 'contradiction') {
      trouble('a rail contradicts how a withdrawal ended', { transferId: key, rail, state });
    }
  }

  /** One that fails stays where it is, and does not keep the others. */
  async function take(source: NoticeSource, notice: Notice): Promise<void> {
    const failing = resting.get(source)!;
    try {
      if (notice.about === 'payment') await payment(notice);
      else await dependencies.deposit(notice.deposit);
      await source.acknowledge([notice.id]);
      failing.delete(notice.id);
    } catch (error) {
      const failures = (failing.get(notice.id)?.failures ?? 0) + 1;
      const pauseMs = Math.min(
        LIMITS.railBackoffMaxMs,
        LIMITS.railBackoffFirstMs * 2 ** Math.min(failures - 1, 30),
      );
      failing.set(notice.id, { failures, untilMs: now() + pauseMs });
      failed(error);
    }
  }

  /** The next ones that need not rest: as many more are asked for as there are of those. */
  async function due(source: NoticeSource): Promise<Notice[]> {
    const failing = resting.get(source)!;
    const restingMax = Math.min(failing.size, LIMITS.railNoticesRestingMax);
    const notices = await source.collect(LIMITS.railNoticesMax + restingMax);
    // Those that are not given out any more were taken by another node.
    const given = new Set(notices.map(({ id }) => id));
    if (notices.length < LIMITS.railNoticesMax + restingMax)
      for (const id of failing.keys()) if (!given.has(id)) failing.delete(id);
    return notices
      .filter(({ id }) => (failing.get(id)?.untilMs ?? 0) <= now())
      .slice(0, LIMITS.railNoticesMax);
  }

  async function runDue(): Promise<number> {
    let count = 0;
    for (const source of rails.notices) {
      const notices = await due(source);
      await Promise.all(notices.map((notice) => take(source, notice)));
      count += notices.length;
    }
    return count;
  }

  const loop = repeat(
    LIMITS.railNoticesPollMs,
    async () => ((await runDue()) >= LIMITS.railNoticesMax ? 'again' : 'wait'),
    failed,
  );
  return { start: (firstDelayMs) => loop.start(firstDelayMs), stop: () => loop.stop(), runDue };
}
