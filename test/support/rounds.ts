/** Whether it is a long run, as `.ci/run` makes it. The quick one leaves out what takes long and shows the same as a shorter test. */
export const IS_LONG = process.env.FERRY_TEST_LONG === '1';

/** How often something is done: tests that kill processes at random, for example, do it more often in a long run. */
export function rounds(usual: number, long: number): number {
  return IS_LONG ? long : usual;
}
