import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createSlices } from './slices.ts';

describe('slices', () => {
  it('are executed one per turn of the event loop, in the order of their requests', async () => {
    const slices = createSlices();
    const done: string[] = [];
    const work = async (name: string): Promise<void> => {
      for (let count = 1; count <= 3; count += 1) {
        await slices.next();
        done.push(`${name}${count}`);
      }
    };
    const both = Promise.all([work('a'), work('b')]);
    const perTurn: number[] = [];
    while (done.length < 6) {
      const before = done.length;
      await turn();
      perTurn.push(done.length - before);
    }
    await both;
    expect(done).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
    expect(Math.max(...perTurn)).toBe(1);
  });
});
