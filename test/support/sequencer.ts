import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const STARTS_PROCESSES =
  /support\/(process|standby|embedded|solana-node|anvil|utxo-world)\.ts'|'\.\/(utxo-node|campaign)\.ts'/;
/** Files that take twenty seconds or more in one process. */
const TAKES_LONG = /support\/(wall-clock|four-eyes-table)\.ts'|example-answers|\/erasure\.test/;

/**
 * Runs the test files first that start processes, servers or nodes: they take longest, and mostly wait. Vitest orders the others by size,
 * and a small file that takes a minute would run last, on one core.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = new Map(
      sorted.map((one) => {
        const text = readFileSync(one.moduleId, 'utf8');
        return [one, STARTS_PROCESSES.test(text) || TAKES_LONG.test(`${text} ${one.moduleId}`)];
      }),
    );
    return [...sorted.filter((one) => isLong.get(one)), ...sorted.filter((one) => !isLong.get(one))];
  }
}
