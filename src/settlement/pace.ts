/** Sleeping that somebody else can end. A wake-up that comes while nobody sleeps ends the next sleep at once. */
export type Wakeup = { sleep(milliseconds: number): Promise<void>; wake(): void };

export function createWakeup(): Wakeup {
  let pending = false;
  let end: (() => void) | undefined;
  return {
    async sleep(milliseconds) {
      if (!pending) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds);
          // Background work never keeps the process alive.
          timer.unref();
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      end = undefined;
      pending = false;
    },
    wake() {
      pending = true;
      end?.();
    },
  };
}

/** Keeps work in vain from taking all the time: after a run that did nothing, a pause in proportion to what it took. */
export type Pacer = { due(): boolean; dueInMs(): number; run(work: () => Promise<number>): Promise<void> };

export function createPacer(pauseMinMs: number, pauseFactor: number): Pacer {
  let dueAt = 0;
  const dueInMs = (): number => Math.max(0, dueAt - performance.now());
  return {
    due: () => dueInMs() === 0,
    dueInMs,
    async run(work) {
      const started = performance.now();
      const done = await work();
      const ended = performance.now();
      dueAt = done > 0 ? ended : ended + Math.max(pauseMinMs, (ended - started) * pauseFactor);
    },
  };
}
