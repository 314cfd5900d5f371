/**
 * Long work on the thread in slices: one slice of all such work per turn of the event loop. A page of a thousand rows takes
 * 20 ms in all; in slices of a millisecond, transfers and other requests make progress in between. Slices are executed in the
 * order in which they were requested, so several pages share the thread equally.
 */
export type Slices = {
  /** Calls back in a later turn of the event loop. */
  request(resume: () => void): void;
  /** The same as a promise. */
  next(): Promise<void>;
};

export function createSlices(): Slices {
  const waiting: (() => void)[] = [];

  function resumeOne(): void {
    const resume = waiting.shift()!;
    // Before the slice, which may throw. An immediate that is scheduled by an immediate runs in the next turn.
    if (waiting.length > 0) setImmediate(resumeOne);
    resume();
  }

  function request(resume: () => void): void {
    waiting.push(resume);
    if (waiting.length === 1) setImmediate(resumeOne);
  }

  return { request, next: () => new Promise(request) };
}

/** Of the process: it has one thread. */
export const SLICES = createSlices();
