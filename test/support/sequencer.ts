import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const STARTS_PROCESSES = /support\/(process|standby|embedded)\.ts'/;

/** Runs the test files first that start processes or servers: they take longest, and mostly wait. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = new Map(
      sorted.map((one) => [one, STARTS_PROCESSES.test(readFileSync(one.moduleId, 'utf8'))]),
    );
    return [...sorted.filter((one) => isLong.get(one)), ...sorted.filter((one) => !isLong.get(one))];
  }
}
