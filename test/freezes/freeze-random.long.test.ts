import { it } from 'vitest';
import { freezeAtRandom } from './random-freeze.ts';

it('freezes at random moments of 1,000 withdrawals on two nodes: nothing is submitted after the answer, and all are paid once', () =>
  freezeAtRandom(1_000, 4, Number(process.env.FERRY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))));
