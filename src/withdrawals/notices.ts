import { workerActor } from '../kernel/actor.ts';
import { backOffMs } from '../kernel/back-off.ts';
import { isId } from '../kernel/id.ts';
import { repeat } from '../kernel/repeat.ts';
import { atMost, type Worker } from '../kernel/worker.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { LIMITS } from '../limits.ts';
import { askRail } from '../rails/call.ts';
import type { ArrivedDeposit, Notice, NoticeSource, Rails } from '../rails/rail.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { type Ended, type Ending, endCommand, failedByRail, type OutcomeTables } from './outcome.ts';
import { requestedOf } from './transitions.ts';

export type NoticeDependencies = {
  readonly writePath: WritePath;
  readonly rails: Rails;
  readonly tables: OutcomeTables;
  readonly transferById: (id: string) => Promise<Transfer | undefined>;
  /** Rails report deposits through the same notices. */
  readonly deposit: (arrived: ArrivedDeposit) => Promise<unknown>;
  /** … and money that came back. */
  readonly returned: (notice: ReturnNotice) => Promise<unknown>;
  readonly trouble: (what: string, facts: object) => void;
  readonly failed: (error: unknown) => void;
  readonly now?: () => number;
};

const BACK_OFF = { firstMs: LIMITS.railBackoffFirstMs, maxMs: LIMITS.railBackoffMaxMs };

type PaymentNotice = Extract<Notice, { about: 'payment' }>;
export type ReturnNotice = Pick<Extract<Notice, { about: 'return' }>, 'key' | 'arrived'>;

export type NoticeWorker = Worker & {
  /** Processes the notices that rails have now. Returns how many there were. */
  runDue(): Promise<number>;
};

const NOTICES = workerActor('rail-notices');

async function end(
  { writePath, tables }: NoticeDependencies,
  transfer: Transfer,
  { rail, state }: Pick<PaymentNotice, 'rail' | 'state'>,
  source: { readonly isNotice?: true },
): Promise<Ended> {
  const ending: Ending = state.kind === 'completed' ? state : failedByRail(rail, state);
  const outcome = await writePath.submit(
    endCommand(transfer, { rail, ending, actor: NOTICES, ...source }, tables),
  );
  if (outcome.replayed) throw new Error('a command without a key cannot be a replay');
  return outcome.answer;
}

/**
 * Until it is certain that the rail accepted the only request that was sent, a notice cannot end the withdrawal: only the
 * rail's answer to `ask` can. Throws if the answer is not final, so that the notice is kept and retried.
 */
async function endByAsking(
  parts: NoticeDependencies,
  transfer: Transfer,
  { rail, key, state }: PaymentNotice,
): Promise<void> {
  const known = parts.rails.find(rail);
  if (known === undefined)
    throw new Error(`the ${rail} rail reports payment ${key}, and is not configured: it cannot be asked`);
  const asked = await askRail(
    known,
    key,
    requestedOf(transfer, parts.tables.assets),
    LIMITS.railCallTimeoutMs,
  );
  if (asked.kind !== 'completed' && asked.kind !== 'failed') {
    throw new Error(
      `the ${rail} rail reports payment ${key} as ${state.kind}, but answers "${asked.kind}" when it is asked`,
    );
  }
  await end(parts, transfer, { rail, state: asked }, {});
}

async function takePayment(parts: NoticeDependencies, notice: PaymentNotice): Promise<void> {
  const { rail, key, state } = notice;
  const transfer = isId(key) ? await parts.transferById(key) : undefined;
  if (transfer === undefined) {
    parts.trouble('a rail reports a payment that this service never requested', { rail, key });
    return;
  }
  let ended = await end(parts, transfer, notice, { isNotice: true });
  if (ended.effect === 'unconfirmed') {
    await endByAsking(parts, transfer, notice);
    ended = await end(parts, transfer, notice, { isNotice: true });
  }
  if (ended.effect !== 'contradiction') return;
  const what =
    ended.transfer.status === 'PENDING'
      ? 'a rail reports the end of a withdrawal that it was not asked to pay'
      : 'a rail contradicts how a withdrawal ended';
  parts.trouble(what, { transferId: key, rail, state });
}

/** Notices of one source that failed, and when to retry each. The source returns them first on every call. */
type Failing = Map<string, { readonly failures: number; readonly untilMs: number }>;

/** A notice that fails is not acknowledged, and does not delay the others. */
async function take(
  parts: NoticeDependencies,
  source: NoticeSource,
  failing: Failing,
  notice: Notice,
  nowMs: () => number,
): Promise<void> {
  try {
    if (notice.about === 'payment') await takePayment(parts, notice);
    else if (notice.about === 'deposit') await parts.deposit(notice.deposit);
    else await parts.returned(notice);
    await source.acknowledge([notice.id]);
    failing.delete(notice.id);
  } catch (error) {
    const failures = (failing.get(notice.id)?.failures ?? 0) + 1;
    failing.set(notice.id, { failures, untilMs: nowMs() + backOffMs(BACK_OFF, failures) });
    parts.failed(error);
  }
}

/** The next notices that are not in back-off. Requests more of them, by the number of those that are. */
async function due(source: NoticeSource, failing: Failing, nowMs: number): Promise<Notice[]> {
  const restingMax = Math.min(failing.size, LIMITS.railNoticesRestingMax);
  const notices = await source.collect(LIMITS.railNoticesMax + restingMax);
  // A notice that the source no longer returns was processed by another node.
  const given = new Set(notices.map(({ id }) => id));
  if (notices.length < LIMITS.railNoticesMax + restingMax)
    for (const id of failing.keys()) if (!given.has(id)) failing.delete(id);
  return notices.filter(({ id }) => (failing.get(id)?.untilMs ?? 0) <= nowMs).slice(0, LIMITS.railNoticesMax);
}

/**
 * Processes what rails report without being asked. A notice is acknowledged after its effect is committed, so after a
 * crash it is delivered again. Nothing is posted twice: a withdrawal ends once, and each deposit is recorded once.
 */
export function createNoticeWorker(parts: NoticeDependencies): NoticeWorker {
  const nowMs = parts.now ?? (() => performance.now());
  const sources = parts.rails.notices.map((source) => ({ source, failing: new Map() as Failing }));

  async function runSource({ source, failing }: (typeof sources)[number]): Promise<number> {
    const notices = await due(source, failing, nowMs());
    await Promise.all(notices.map((notice) => take(parts, source, failing, notice, nowMs)));
    return notices.length;
  }

  // A loop for each source: one that fails or hangs does not delay the others.
  const loops = sources.map((one) =>
    repeat(
      LIMITS.railNoticesPollMs,
      async () => ((await runSource(one)) >= LIMITS.railNoticesMax ? 'again' : 'wait'),
      parts.failed,
    ),
  );
  return {
    name: 'rail notices',
    stage: 'edge',
    start() {
      for (const loop of loops) loop.start();
    },
    stop: () => atMost(LIMITS.workerStopMs, Promise.all(loops.map((loop) => loop.stop()))),
    async runDue() {
      const counts = await Promise.all(sources.map(runSource));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}
