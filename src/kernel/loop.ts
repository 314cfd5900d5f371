import { setTimeout as sleep } from 'node:timers/promises';
import { createModes } from './mode.ts';
import { createWakeUp } from './wake-up.ts';

/**
 * Background work in turns: a turn, a sleep, the next turn. Never two turns at once.
 *
 *             start              stop                the turn in progress has ended
 *   STOPPED ────────> RUNNING ────────> STOPPING ─────────────────────────────────> STOPPED
 */
export type Loop = {
  start(firstDelayMs?: number): void;
  /** Ends the sleep. During a turn: the next turn follows without a sleep. */
  wake(): void;
  /** Resolves when the turn in progress has ended. */
  stop(): Promise<void>;
  /** False as soon as `stop` is called. */
  isRunning(): boolean;
};

export type LoopOptions = {
  /** Returns how long to sleep afterwards. `isWoken`: a wake-up ended the sleep before this turn. */
  turn(isWoken: boolean): Promise<number>;
  /** A turn threw: returns how long to sleep. Not called once the loop is stopping, since stopping makes turns fail. */
  failed(error: unknown): number | Promise<number>;
  /** Minimum time from the end of one turn to the start of the next: wake-ups in quick succession share a turn. */
  readonly spacingMs?: number;
};

export function createLoop({ turn, failed, spacingMs = 0 }: LoopOptions): Loop {
  const wakeUp = createWakeUp();
  const modes = createModes<{ name: 'STOPPED' | 'RUNNING' | 'STOPPING' }>(
    'the loop',
    { name: 'STOPPED' },
    { STOPPED: ['RUNNING'], RUNNING: ['STOPPING'], STOPPING: ['STOPPED'] },
  );
  let ended: Promise<void> | undefined;

  async function runTurn(isWoken: boolean): Promise<number> {
    try {
      return await turn(isWoken);
    } catch (error) {
      return modes.is('RUNNING') ? failed(error) : 0;
    }
  }

  async function run(firstDelayMs: number): Promise<void> {
    let isWoken = firstDelayMs > 0 && (await wakeUp.sleep(firstDelayMs)) === 'woken';
    while (modes.is('RUNNING')) {
      const sleepMs = await runTurn(isWoken);
      if (spacingMs > 0) await sleep(spacingMs, undefined, { ref: false });
      isWoken = (await wakeUp.sleep(sleepMs)) === 'woken';
    }
    modes.become({ name: 'STOPPED' });
  }

  return {
    start(firstDelayMs = 0) {
      modes.become({ name: 'RUNNING' });
      ended = run(firstDelayMs);
    },
    wake: wakeUp.wake,
    async stop() {
      if (modes.is('RUNNING')) {
        modes.become({ name: 'STOPPING' });
        wakeUp.wake();
      }
      await ended;
    },
    isRunning: () => modes.is('RUNNING'),
  };
}
