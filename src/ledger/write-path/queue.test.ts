import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minimumsOf, placesOf } from '../../../test/support/shards.ts';
import { createShards } from '../../database/shards.ts';
import { workerActor } from '../../kernel/actor.ts';
import { Problem } from '../../kernel/problem.ts';
import { LIMITS } from '../../limits.ts';
import { refuse } from '../command.ts';
import { isWorthABatch, secondBatchMin, sizeOfAll, takeBatch, type Waiting } from './queue.ts';

const { batchCommandsMax, batchBalancesMax } = LIMITS;
const BUSY = 1;
const MIN = LIMITS.secondBatchCommandsMin;

function command(customerId: string | undefined, balances = 2): Waiting {
  return {
    command: {
      actor: workerActor('test'),
      ...(customerId !== undefined && { customerId }),
      balances: Array.from({ length: balances }, (_, index) => ({ profileId: `${index}`, asset: 'USD' })),
      decide: () => refuse(new Problem('forbidden', 'never decided')),
    },
    progress: { submitted: 1, answered: 0 },
    resolve: () => undefined,
    reject: () => undefined,
  };
}
function withParts(customerId: string, parts: number): Waiting {
  const waiting = command(customerId);
  return {
    ...waiting,
    command: { ...waiting.command, parts: Array.from({ length: parts }, () => waiting.command) },
  };
}
const commands = (customerId: string, count: number): Waiting[] =>
  Array.from({ length: count }, () => command(customerId));
const countOf = (batch: readonly Waiting[], customerId: string): number =>
  batch.filter((waiting) => waiting.command.customerId === customerId).length;

describe('the next batch', () => {
  it('is sent at once if the database is idle, and is larger the more batches wait for the database', () => {
    const least = [0, 1, 2, 3].map((inFlight) => {
      let queued = 0;
      while (!isWorthABatch(queued, inFlight, 4, MIN)) queued += 1;
      return queued;
    });
    expect(least).toEqual([1, 128, 256, 512]);
    expect(isWorthABatch(10_000, 4, 4, MIN)).toBe(false);
    expect(isWorthABatch(511, 1, 4, 512)).toBe(false);
  });

  it.each([
    [undefined, 128],
    [1, 64],
    [2, 128],
    [4, 256],
    [32, 512],
  ])('beside another one, has the more commands the more servers there are (%s: %s)', (servers, least) => {
    const shards = servers === undefined ? undefined : createShards(placesOf(minimumsOf(32), servers));
    expect(secondBatchMin({ shards: () => shards })).toBe(least);
  });

  it('has the oldest commands, if all that wait fit', () => {
    const queue = [...commands('a', 5), ...commands('b', 3)];
    const all = [...queue];
    expect(takeBatch(queue, BUSY, MIN)).toEqual(all);
    expect(queue).toEqual([]);
  });

  it('has commands of all customers in turn, if more wait than fit', () => {
    const queue = [...commands('flood', 3 * batchCommandsMax), ...commands('a', 3), ...commands('b', 5)];
    const batch = takeBatch(queue, BUSY, MIN);
    expect(batch).toHaveLength(batchCommandsMax);
    expect(countOf(batch, 'a')).toBe(3);
    expect(countOf(batch, 'b')).toBe(5);
    expect(countOf(batch, 'flood')).toBe(batchCommandsMax - 8);
  });

  it('counts a command with parts as so many commands', () => {
    const bulks = Array.from({ length: 5 }, () => withParts('bulk', 200));
    const queue = [...bulks, ...commands('a', 300)];
    const batch = takeBatch(queue, BUSY, MIN);
    // The second bulk has its turn after as many commands of the other customer as the first bulk has parts.
    expect(countOf(batch, 'bulk')).toBe(1);
    expect(countOf(batch, 'a')).toBe(200);
    expect(sizeOfAll(batch)).toBeLessThanOrEqual(batchCommandsMax);
    expect(takeBatch([withParts('bulk', 2 * batchCommandsMax)], BUSY, MIN)).toHaveLength(1);
  });

  it('loses no command, keeps the order of each customer, and keeps its bounds', () => {
    const waiting = fc
      .tuple(fc.constantFrom('a', 'b', undefined), fc.constantFrom(0, 2, 200))
      .map((one) => command(...one));
    fc.assert(
      fc.property(fc.array(waiting, { maxLength: 40, size: 'max' }), fc.nat(1), (given, inFlight) => {
        const queue = [...given];
        const taken: Waiting[] = [];
        while (queue.length > 0) {
          const batch = takeBatch(queue, inFlight, MIN);
          expect(batch.length).toBeGreaterThan(0);
          const balances = batch.reduce((sum, one) => sum + one.command.balances.length, 0);
          expect(balances <= batchBalancesMax || batch.length === 1).toBe(true);
          taken.push(...batch);
        }
        for (const customerId of ['a', 'b', undefined]) {
          const own = (list: Waiting[]) => list.filter((one) => one.command.customerId === customerId);
          expect(own(taken)).toEqual(own(given));
        }
      }),
    );
  });
});
