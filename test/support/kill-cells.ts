import { CHECKPOINTS, type Checkpoint } from '../../src/chains/keeper.ts';

/** The fault matrix of a chain: a process of the service dies at each checkpoint, and something else goes wrong meanwhile. */
export type Fault = {
  /** From before the death on. */
  readonly during?: () => unknown;
  /** While the service is dead. */
  readonly after?: (transferId: string) => Promise<unknown>;
  /** Once the next process has worked for a while: what went wrong is over. */
  readonly over?: () => unknown;
};

const isWhole = process.env.FERRY_TEST_CHAINS !== undefined;

/** All combinations in `npm run test:chains`, which takes an hour; otherwise only these. */
export function cellsOf(
  faults: Readonly<Record<string, unknown>>,
  sample: readonly (readonly [string, Checkpoint])[],
): readonly (readonly [string, Checkpoint])[] {
  const names = Object.keys(faults);
  return isWhole ? names.flatMap((name) => CHECKPOINTS.map((at) => [name, at] as const)) : sample;
}
