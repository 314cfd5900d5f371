import type { Database } from '../database/database.ts';
import { type Repeated, repeat } from '../kernel/repeat.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { LIMITS } from '../limits.ts';
import type { ArrivedDeposit, Notice, NoticeSource, Rails } from '../rails/rail.ts';
import { type Ending, endCommand, type OutcomeTables } from './outcome.ts';
import { transferById } from './store.ts';
import { refusedByRail } from './words.ts';

type Dependencies = {
  readonly database: Database;
  readonly writePath: WritePath;
  readonly rails: Rails;
  readonly tables: OutcomeTables;
  readonly deposit: (arrived: ArrivedDeposit) => Promise<unknown>;
  readonly trouble: (what: string, facts: object) => void;
  readonly failed: (error: unknown) => void;
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

  async function payment(notice: Extract<Notice, { about: 'payment' }>): Promise<void> {
    const { rail, key, state } = notice;
    const transfer = await transferById(database, key);
    if (transfer === undefined) return trouble('a rail speaks of a payment that is not ours', { rail, key });
    const ending: Ending =
      state.kind === 'completed' ? state : { kind: 'failed', words: refusedByRail(state.reason) };
    const outcome = await writePath.submit(endCommand(transfer, { rail, ending }, tables));
    if (!outcome.replayed && outcome.answer.effect === 'contradiction') {
      trouble('a rail contradicts how a withdrawal ended', { transferId: key, rail, state });
    }
  }

  /** One that fails stays where it is, and does not keep the others. */
  async function take(source: NoticeSource, notice: Notice): Promise<void> {
    try {
      if (notice.about === 'payment') await payment(notice);
      else await dependencies.deposit(notice.deposit);
      await source.acknowledge([notice.id]);
    } catch (error) {
      failed(error);
    }
  }

  async function runDue(): Promise<number> {
    let count = 0;
    for (const source of rails.notices) {
      const notices = await source.collect(LIMITS.railNoticesMax);
      await Promise.all(notices.map((notice) => take(source, notice)));
      count += notices.length;
    }
    return count;
  }

  const loop = repeat(
    LIMITS.railNoticesPollMs,
    async () => ((await runDue()) === LIMITS.railNoticesMax ? 'again' : 'wait'),
    failed,
  );
  return { start: (firstDelayMs) => loop.start(firstDelayMs), stop: () => loop.stop(), runDue };
}
