/**
 * The wall clock of this process, which a test can set as an administrator or an NTP daemon sets that of a machine.
 * Timers and `performance.now()` are monotonic and go on as they are; so does the database's clock. Steered from the
 * import on, so that a reference to `Date.now` that is kept somewhere is steered as well.
 */
const RealDate = Date;
const realNow = Date.now.bind(Date);
let shiftMs = 0;

class SteeredDate extends RealDate {
  constructor(...parts: unknown[]) {
    super(...((parts.length === 0 ? [SteeredDate.now()] : parts) as [number]));
  }
  static override now(): number {
    return realNow() + shiftMs;
  }
}
RealDate.now = SteeredDate.now;
globalThis.Date = SteeredDate as unknown as DateConstructor;

/** How far the wall clock is ahead of the right time from now on; below zero it is behind, 0 makes it right again. */
export function shiftWallClock(milliseconds: number): void {
  shiftMs = milliseconds;
}

/** The right time, whatever the wall clock says. */
export const rightNow = (): number => realNow();
