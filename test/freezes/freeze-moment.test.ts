import { it } from 'vitest';
import { freezeAtRandom } from './random-freeze.ts';

it('a freeze at a random moment of 30 withdrawals on two nodes: nothing is submitted after its answer, and all are paid once after it', () =>
  freezeAtRandom(30, 1, Math.floor(Math.random() * 2 ** 32)));
