/**
 * The wall clock of this process, which a test can set as an administrator or an NTP daemon sets that of a machine.
 * Timers, `performance.now()` and the clock of the database are not affected. `Date.now` is replaced when this is
 * imported, so that references to it that are kept elsewhere are affected as well.
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

/** Sets how far the wall clock is ahead of the right time; negative is behind, 0 corrects it. */
export function shiftWallClock(milliseconds: number): void {
  shiftMs = milliseconds;
}

/** The right time, whatever the wall clock shows. */
export const rightNow = (): number => realNow();
