import { expect } from 'vitest';
import type { Finished } from '../support/process.ts';

/** One sentence on standard error, and nothing else anywhere. */
export function expectSentence(
  { code, stdout, stderr }: Finished,
  expected: { code: number; sentence: string | RegExp },
): void {
  expect({ code, stdout }).toEqual({ code: expected.code, stdout: '' });
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  if (typeof expected.sentence === 'string') expect(stderr).toBe(`${expected.sentence}\n`);
  else expect(stderr).toMatch(expected.sentence);
}
