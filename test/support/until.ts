import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The limit of a wait: longer than anything takes on a machine that is ten times slower than usual. Long runs, which take an hour and
 * more, must not fail because the machine was busy for some minutes.
 */
export const PATIENCE_MS = process.env.FERRY_TEST_LONG === undefined ? 120_000 : 600_000;

/** Polls until the condition holds. An error counts as "not yet"; the last one is the cause of the failure. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  intervalMs = 10,
): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  let cause: unknown;
  do {
    try {
      if (await isSo()) return;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await sleep(intervalMs);
  } while (performance.now() < deadline);
  throw new Error(`waited ${PATIENCE_MS / 1_000} s without success until ${what}`, { cause });
}
