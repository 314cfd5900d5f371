import { shiftWallClock } from './wall-clock.ts';

/** Loaded before a process: its wall clock is wrong by TEST_CLOCK_SHIFT_MS from its start on, until SIGUSR2 sets it right. */
shiftWallClock(Number(process.env.TEST_CLOCK_SHIFT_MS));
process.on('SIGUSR2', () => shiftWallClock(0));
