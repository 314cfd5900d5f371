import { createLoop } from '../kernel/loop.ts';
import { atMost, type Worker } from '../kernel/worker.ts';
import { LIMITS } from '../limits.ts';
import { BANK_LIMITS } from '../limits-banks.ts';
import { askUnanswered } from './file-store.ts';
import { endLease, fenced, holdLease, LeaseLost } from './lease-store.ts';
import type { BankParts } from './parts.ts';
import { insertFindings } from './received-store.ts';
import { type Listing, receiveFiles } from './receiving.ts';
import { reconcileStatements } from './reconciling.ts';
import { makeFile, sendFiles } from './sending.ts';

export type BankWorker = Worker & {
  /** One turn, if this node holds the lease or gets it. False if another node holds it. */
  turn(): Promise<boolean>;
};

/** Files that the bank has not answered in time: an operator has to ask. */
async function ask({ database, settings, clock, lease, log }: BankParts): Promise<void> {
  const { rail, answerWithinMs } = settings;
  const now = clock.now();
  const asked = await fenced(database, lease, async (tx) => {
    const files = await askUnanswered(tx, rail, answerWithinMs, now);
    const findings = files.map(({ id, name }) => ({
      sourceKey: `unanswered ${id}`,
      kind: 'UNANSWERED',
      finding: `The bank has not answered ${name}. Ask the bank whether it has the file; it is not sent again.`,
    }));
    return insertFindings(tx, rail, findings, null, now);
  });
  for (const { finding } of asked) log.error({ rail, finding }, 'a file of payments needs an operator');
}

/** Exchanges files with the bank. One node does at a time; each step starts from what is committed. */
export function createBankWorker(parts: BankParts): BankWorker {
  const { database, settings, transport, lease, leaseMs, log } = parts;
  const listing: Listing = new Map();
  let nextPollMs = 0;

  async function renew(): Promise<void> {
    if (!(await holdLease(database, lease, leaseMs)))
      throw new LeaseLost(`another node exchanges the files of the ${settings.rail} rail`);
  }

  async function exchange(): Promise<void> {
    const session = await transport.connect();
    try {
      await sendFiles(parts, session, renew);
      let isMore = true;
      while (isMore) isMore = await receiveFiles(parts, session, listing, renew);
    } finally {
      await session.close();
    }
  }

  async function turn(): Promise<boolean> {
    if (!(await holdLease(database, lease, leaseMs))) return false;
    let made = 0;
    while (await makeFile(parts)) {
      made += 1;
      await renew();
    }
    await ask(parts);
    if (made === 0 && performance.now() < nextPollMs) return true;
    // Also after a failure: a bank that is down is not asked again at once.
    nextPollMs = performance.now() + settings.pollMs;
    await exchange();
    await reconcileStatements(parts);
    return true;
  }

  const loop = createLoop({
    turn: async () => {
      await turn();
      return Math.min(BANK_LIMITS.turnMs, settings.pollMs);
    },
    failed(error) {
      const { rail } = settings;
      log.warn({ err: error, rail }, `could not exchange files with the bank over ${transport.name}`);
      return Math.min(BANK_LIMITS.failedTurnMs, settings.pollMs);
    },
  });
  return {
    name: `files of the ${settings.rail} rail`,
    stage: 'edge',
    start: () => loop.start(),
    async stop() {
      await atMost(LIMITS.workerStopMs, loop.stop());
      // Another node takes over at once. Without a database, it does when the lease ends.
      await endLease(database, lease).catch((error: unknown) =>
        log.warn({ err: error, rail: settings.rail }, 'could not end the lease for the files of a bank'),
      );
    },
    turn,
  };
}
