/** Background work: runs, waits, runs again; never twice at once, and never keeps the process alive. */
export type Repeated = { start(firstDelayMs?: number): void; stop(): Promise<void> };

export function repeat(
  intervalMs: number,
  work: () => Promise<'again' | 'wait'>,
  failed: (error: unknown) => void,
): Repeated {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let stopped = true;

  const schedule = (delayMs: number): void => {
    timer = setTimeout(() => {
      running = work()
        .catch((error: unknown) => {
          if (!stopped) failed(error);
          return 'wait' as const;
        })
        .then((next) => {
          if (!stopped) schedule(next === 'again' ? 0 : intervalMs);
        });
    }, delayMs);
    timer.unref();
  };

  return {
    start(firstDelayMs = intervalMs) {
      stopped = false;
      schedule(firstDelayMs);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
