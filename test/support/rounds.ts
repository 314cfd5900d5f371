/** Tests that kill processes at random run for longer where there is time: `.ci/run` sets FERRY_TEST_LONG. */
/** Whether it is one of those runs. The others leave out what takes long and shows the same as a shorter test. */
export const IS_LONG = process.env.FERRY_TEST_LONG === '1';

export function rounds(usual: number, long: number): number {
  return IS_LONG ? long : usual;
}
