import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The limit of a wait: longer than anything takes on a machine that is ten times slower than usual. Long runs, which take an hour and
 * more, must not fail because the machine was busy for some minutes.
 */
export const PATIENCE_MS = process.env.FERRY_TEST_LONG === undefined ? 120_000 : 600_000;

/** Polls of a long wait are this far apart at most: each may be a request and a statement, and five files wait at once. */
const INTERVAL_MS_MAX = 100;

/**
 * Polls until the condition holds, less often the longer it takes: a wait is at most a tenth longer than necessary. An error counts as
 * "not yet"; the last one is the cause of the failure.
 */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  intervalMs = 10,
): Promise<void> {
  const startedAt = performance.now();
  const deadline = startedAt + PATIENCE_MS;
  let cause: unknown;
  do {
    try {
      if (await isSo()) return;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    const waitedMs = performance.now() - startedAt;
    await sleep(Math.max(intervalMs, Math.min(waitedMs / 10, INTERVAL_MS_MAX)));
  } while (performance.now() < deadline);
  throw new Error(`waited ${PATIENCE_MS / 1_000} s without success until ${what}`, { cause });
}
