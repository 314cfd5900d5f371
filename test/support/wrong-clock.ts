import { shiftWallClock } from './wall-clock.ts';

/** Preloaded by a process: its wall clock is wrong by TEST_CLOCK_SHIFT_MS until SIGUSR2 corrects it. */
shiftWallClock(Number(process.env.TEST_CLOCK_SHIFT_MS));
process.on('SIGUSR2', () => shiftWallClock(0));
