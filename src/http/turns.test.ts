import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTurns, type Turn } from './turns.ts';

const LIMITS = { readsMax: 4, customerReadsMax: 3 };

type Read = { readonly customer: string; readonly turn: Turn; isOver: boolean };

function setUp() {
  const turns = createTurns(LIMITS);
  const running: Read[] = [];
  const started: string[] = [];
  const refused: string[] = [];
  const take = (customer: string, points = 1): Read => {
    const begin = (): void => {
      running.push(read);
      started.push(customer);
    };
    const read: Read = {
      customer,
      isOver: false,
      turn: turns.take(customer, points, (error) => {
        if (error === undefined) begin();
        else refused.push(customer);
      }),
    };
    if (!read.turn.isWaiting()) begin();
    return read;
  };
  const end = (read: Read): void => {
    running.splice(running.indexOf(read), 1);
    read.isOver = true;
    read.turn.end();
  };
  return { turns, running, started, refused, take, end };
}

describe('turns', () => {
  it('leave a place for another customer, whatever one customer has waiting', () => {
    const { take, running } = setUp();
    for (let count = 0; count < 100; count += 1) take('busy');
    expect(running).toHaveLength(LIMITS.customerReadsMax);
    take('other');
    expect(running.at(-1)!.customer).toBe('other');
  });

  it('go to the customer that has received the least', () => {
    const { take, end, running, started } = setUp();
    for (let count = 0; count < 20; count += 1) take('large', 80);
    for (let count = 0; count < 20; count += 1) take('small', 1);
    started.splice(0);
    while (started.length < 10) end(running[0]!);
    // After their first reads, the reads of one customer are 80 times as cheap.
    expect(started.filter((customer) => customer === 'small').length).toBeGreaterThan(7);
  });

  it('give no customer a claim from the past', () => {
    const { take, end, running, started } = setUp();
    end(take('idle'));
    for (let count = 0; count < 20; count += 1) take('busy');
    for (let count = 0; count < 10; count += 1) end(running[0]!);
    for (let count = 0; count < 10; count += 1) take('idle');
    started.splice(0);
    for (let count = 0; count < 8; count += 1) end(running[0]!);
    expect(started.filter((customer) => customer === 'busy').length).toBeGreaterThanOrEqual(3);
  });

  it('refuse the newest read of the customer that has the most waiting', () => {
    const { turns, take, refused } = setUp();
    for (let count = 0; count < 5; count += 1) take('one');
    for (let count = 0; count < 9; count += 1) take('two');
    const waiting = turns.queue.waiting();
    turns.refuseOne(new Error('overloaded'));
    expect(refused).toEqual(['two']);
    expect(turns.queue.waiting()).toBe(waiting - 1);
  });

  it('never start more than the places, lose a read or leave a place unused', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('take' as const), customer: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ kind: fc.constantFrom('end', 'leave', 'refuse'), at: fc.nat(50) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const { turns, running, refused, take, end } = setUp();
        const all: Read[] = [];
        for (const one of steps) {
          if ('customer' in one) all.push(take(one.customer));
          else if (one.kind === 'end' && running.length > 0) end(running[one.at % running.length]!);
          else if (one.kind === 'refuse') turns.refuseOne(new Error('overloaded'));
          else if (one.kind === 'leave') {
            const waiting = all.filter(({ turn }) => turn.isWaiting());
            waiting[one.at % Math.max(1, waiting.length)]?.turn.end();
          }
          const waiting = all.filter(({ turn }) => turn.isWaiting());
          expect(turns.queue.waiting()).toBe(waiting.length);
          expect(running.length).toBeLessThanOrEqual(LIMITS.readsMax);
          for (const customer of ['a', 'b', 'c']) {
            const own = running.filter((read) => read.customer === customer).length;
            expect(own).toBeLessThanOrEqual(LIMITS.customerReadsMax);
            const isHeldBack = waiting.some((read) => read.customer === customer);
            if (isHeldBack)
              expect(running.length === LIMITS.readsMax || own === LIMITS.customerReadsMax).toBe(true);
          }
        }
        while (running.length > 0) end(running[0]!);
        expect(all.filter(({ turn }) => turn.isWaiting())).toEqual([]);
        expect(refused.length + all.filter(({ isOver }) => isOver).length).toBeLessThanOrEqual(all.length);
      }),
    );
  });
});
