import type { Database } from '../database/database.ts';
import { backOffMs } from '../kernel/back-off.ts';
import { isId } from '../kernel/id.ts';
import { type Repeated, repeat } from '../kernel/repeat.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { LIMITS } from '../limits.ts';
import { askRail } from '../rails/call.ts';
import type { ArrivedDeposit, Notice, NoticeSource, Rails } from '../rails/rail.ts';
import { transferById } from '../transfers/store.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { type Ended, type Ending, endCommand, failedByRail, type OutcomeTables } from './outcome.ts';

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

const BACK_OFF = { firstMs: LIMITS.railBackoffFirstMs, maxMs: LIMITS.railBackoffMaxMs };

type PaymentNotice = Extract<Notice, { about: 'payment' }>;

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

  async function end(
    transfer: Transfer,
    { rail, state }: Pick<PaymentNotice, 'rail' | 'state'>,
    source: { readonly isNotice?: true },
  ): Promise<Ended> {
    const ending: Ending = state.kind === 'completed' ? state : failedByRail(state.reason);
    const outcome = await writePath.submit(endCommand(transfer, { rail, ending, ...source }, tables));
    if (outcome.replayed) throw new Error('a command without a key cannot be a replay');
    return outcome.answer;
  }

  /**
   * While it is not certain that the rail accepted the one request that was made, only its answer to a question ends the
   * withdrawal. Throws when the answer is no end, so that the notice is kept and tried again.
   */
  async function endByAsking(transfer: Transfer, { rail, key, state }: PaymentNotice): Promise<void> {
    const known = rails.find(rail);
    const asked = known && (await askRail(known, key, LIMITS.railCallTimeoutMs));
    if (asked?.kind !== 'completed' && asked?.kind !== 'failed') {
      throw new Error(
        `the ${rail} rail reports that payment ${key} ${state.kind}, and answers "${asked?.kind}" when it is asked`,
      );
    }
    await end(transfer, { rail, state: asked }, {});
  }

  async function payment(notice: PaymentNotice): Promise<void> {
    const { rail, key, state } = notice;
    const transfer = isId(key) ? await transferById(database, key) : undefined;
    if (transfer === undefined) return trouble('a rail speaks of a payment that is not ours', { rail, key });
    let ended = await end(transfer, notice, { isNotice: true });
    if (ended.effect === 'unconfirmed') {
      await endByAsking(transfer, notice);
      ended = await end(transfer, notice, { isNotice: true });
    }
    if (ended.effect !== 'contradiction') return;
    const what =
      ended.transfer.status === 'PENDING'
        ? 'a rail reports the end of a withdrawal that it was not asked to pay'
        : 'a rail contradicts how a withdrawal ended';
    trouble(what, { transferId: key, rail, state });
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
      failing.set(notice.id, { failures, untilMs: now() + backOffMs(BACK_OFF, failures) });
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
