/** Bounds the share of time that unsuccessful work takes: after a run that did nothing, a pause in proportion to it. */
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
