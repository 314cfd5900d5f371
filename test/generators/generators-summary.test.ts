import { expect, it } from 'vitest';
import { GENERATORS } from './list.ts';
import { isSuccess, type Outcome, summaryOf } from './summary.ts';

const GOOD: Outcome = { name: 'one', version: '1.0.0', durationMs: 12_340, missing: [] };
const ABSENT: Outcome = { name: 'second', version: '22.0.0', durationMs: 0, missing: ['go', 'java'] };
const BAD: Outcome = {
  name: 'third',
  version: '3',
  durationMs: 900,
  missing: [],
  failure: 'go vet\nlong text',
};

it('prints a line for each generator, and says what is missing on the machine', () => {
  expect(summaryOf([GOOD, ABSENT, BAD]).split('\n')).toEqual([
    'generator  version  result   seconds',
    'one        1.0.0    ok       12.3     generated, compiled, made a transfer, read the list',
    'second     22.0.0   not run  -        not on the PATH: go, java',
    'third      3        FAILED   0.9      go vet',
    '',
    '1 ok, 1 failed, 1 not run',
  ]);
});

it('fails if one generator fails or if none was chosen, not because a language is missing', () => {
  expect(isSuccess([GOOD, ABSENT])).toBe(true);
  expect(isSuccess([ABSENT])).toBe(true);
  expect(isSuccess([GOOD, BAD])).toBe(false);
  expect(isSuccess([])).toBe(false);
});

it('has seven generators, each with a name of its own and an exact version', () => {
  expect(new Set(GENERATORS.map(({ name }) => name)).size).toBe(7);
  expect(GENERATORS.filter(({ version }) => !/^v?\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});
