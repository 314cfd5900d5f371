/** Tests that kill processes at random run for longer where there is time: `.ci/run` sets FERRY_TEST_LONG. */
export function rounds(usual: number, long: number): number {
  return process.env.FERRY_TEST_LONG === '1' ? long : usual;
}
