import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type Candidate, choose, type Effect } from './netting.ts';

/** Legs as `from>to amount asset`; age is the order in which they stand. */
function payment(name: string, ...legs: string[]): Candidate<string> {
  const net = new Map<string, bigint>();
  for (const leg of legs) {
    const [parties, amount, asset = 'USD'] = leg.split(' ');
    const [from, to] = parties!.split('>');
    for (const [party, units] of [
      [from, -BigInt(amount!)],
      [to, BigInt(amount!)],
    ] as const) {
      const key = `${party}/${asset}`;
      net.set(key, (net.get(key) ?? 0n) + units);
    }
  }
  const effects = [...net].flatMap(([key, units]): Effect[] => (units === 0n ? [] : [{ key, units }]));
  return { item: name, effects };
}

const has =
  (balances: Record<string, number> = {}) =>
  (key: string): bigint =>
    BigInt(balances[key] ?? 0);

function ring(size: number, units = 7): Candidate<string>[] {
  return Array.from({ length: size }, (_, index) =>
    payment(`r${index}`, `p${index}>p${(index + 1) % size} ${units}`),
  );
}

describe('first in, first out', () => {
  it('settles the oldest that is covered, one after the other', () => {
    const { steps, left, available } = choose(
      [payment('old', 'a>b 6'), payment('young', 'a>c 5'), payment('small', 'a>c 4')],
      has({ 'a/USD': 10 }),
    );
    expect(steps).toEqual([['old'], ['small']]);
    expect(left).toEqual(['young']);
    expect(available('a/USD')).toBe(0n);
    expect(available('c/USD')).toBe(4n);
  });

  it('goes back to an older one as soon as something brings what it lacks', () => {
    const { steps } = choose(
      [payment('old', 'b>c 10'), payment('brings', 'a>b 10'), payment('young', 'b>d 10')],
      has({ 'a/USD': 10 }),
    );
    expect(steps).toEqual([['brings'], ['old']]);
  });

  it('looks at what all legs of a transaction do together', () => {
    const swap = payment('swap', 'a>b 10', 'b>a 4', 'b>a 1 BTC');
    expect(choose([swap], has({ 'a/USD': 6, 'b/BTC': 1 })).steps).toEqual([['swap']]);
    expect(choose([swap], has({ 'a/USD': 5, 'b/BTC': 1 })).steps).toEqual([]);
    expect(choose([swap], has({ 'a/USD': 6 })).left).toEqual(['swap']);
  });

  it('does not bring a balance above what the ledger can hold', () => {
    const full = (key: string): bigint => (key === 'b/USD' ? 10n ** 38n - 1n : 5n);
    expect(choose([payment('one', 'a>b 1')], full).steps).toEqual([]);
  });
});

describe('gridlock', () => {
  it('lets two that offset each other settle without any funds', () => {
    const { steps } = choose([payment('there', 'a>b 10'), payment('back', 'b>a 10')], has());
    expect(steps).toEqual([['there', 'back']]);
  });

  it('needs only the difference where two do not offset each other fully', () => {
    const two = [payment('there', 'a>b 10'), payment('back', 'b>a 7')];
    expect(choose(two, has({ 'a/USD': 2 })).steps).toEqual([]);
    expect(choose(two, has({ 'a/USD': 3 })).steps).toEqual([['there', 'back']]);
  });

  it('does not take one asset for another', () => {
    expect(choose([payment('there', 'a>b 10'), payment('back', 'b>a 10 BTC')], has()).steps).toEqual([]);
  });

  it.each([2, 5, 50, 200])('settles a ring of %i', (size) => {
    const { steps, left } = choose(ring(size), has());
    expect(steps.map((step) => step.length)).toEqual([size]);
    expect(left).toEqual([]);
  });

  it('settles a ring while an outsider, older or younger, has to wait', () => {
    const outsider = payment('outsider', 'p2>z 1');
    for (const all of [
      [outsider, ...ring(5)],
      [...ring(5), outsider],
    ]) {
      const { steps, left } = choose(all, has());
      expect(steps.map((step) => step.toSorted())).toEqual([['r0', 'r1', 'r2', 'r3', 'r4']]);
      expect(left).toEqual(['outsider']);
    }
  });

  it('leaves out the newest where that lets the rest settle', () => {
    const all = [
      payment('one', 'a>b 10'),
      payment('two', 'b>c 10'),
      payment('three', 'c>a 10'),
      payment('newest', 'a>c 10'),
    ];
    const { steps, left } = choose(all, has());
    expect(steps).toEqual([['one', 'two', 'three']]);
    expect(left).toEqual(['newest']);
  });

  it('settles rings that run through several assets', () => {
    const all = [payment('ab', 'a>b 1 BTC', 'b>a 100 USD'), payment('ba', 'b>a 1 BTC', 'a>b 100 USD')];
    expect(choose(all, has()).steps).toEqual([['ab', 'ba']]);
  });

  it('finds a set among many that only stand in the way', () => {
    const noise = Array.from({ length: 300 }, (_, index) =>
      payment(`n${index}`, `p${index % 5}>q${index} 1`),
    );
    const { steps, left } = choose([...noise, ...ring(5)], has());
    expect(steps.flat().toSorted()).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
    expect(left).toHaveLength(300);
  });

  it('finds the two that offset each other among hundreds of the same two parties that do not', () => {
    const tooMuch = Array.from({ length: 200 }, (_, index) => payment(`more${index}`, `b>a ${101 + index}`));
    const all = [payment('there', 'a>b 100'), ...tooMuch, payment('match', 'b>a 100')];
    expect(choose(all, has(), 0).steps).toEqual([['there', 'match']]);
  });

  it('lets what a set brings settle others, and sets that share nothing settle each', () => {
    const all = [...ring(3), payment('x', 'x>y 5'), payment('y', 'y>x 4'), payment('after', 'y>w 1')];
    expect(choose(all, has({ 'x/USD': 1 })).steps).toEqual([
      ['r0', 'r1', 'r2'],
      ['x', 'y', 'after'],
    ]);
  });

  it('ends its search at the budget, and still never settles less than one by one', () => {
    const all = Array.from({ length: 60 }, (_, index) =>
      payment(
        `t${index}`,
        `p${index % 7}>p${(index * 3 + 1) % 7 === index % 7 ? 8 : (index * 3 + 1) % 7} ${1 + (index % 5)}`,
      ),
    );
    const none = choose(all, has({ 'p0/USD': 3 }), 0);
    const some = choose(all, has({ 'p0/USD': 3 }));
    expect(some.steps.flat().length).toBeGreaterThanOrEqual(none.steps.flat().length);
  });
});

describe('against exhaustive search', () => {
  // Few parties, small amounts and hardly any funds, so that gridlocks are common.
  const names = ['a', 'b', 'c', 'd'];
  const leg = fc
    .tuple(fc.nat(3), fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 4 }), fc.nat(3))
    .map(([from, step, units, asset]) => {
      const to = names[(from + step) % names.length];
      return `${names[from]}>${to} ${units} ${asset === 0 ? 'BTC' : 'USD'}`;
    });
  const instances = fc.record({
    legs: fc.array(fc.array(leg, { minLength: 1, maxLength: 2 }), {
      minLength: 4,
      maxLength: 12,
      size: 'max',
    }),
    balances: fc.dictionary(
      fc.tuple(fc.constantFrom(...names), fc.constantFrom('USD', 'BTC')).map((pair) => pair.join('/')),
      fc.integer({ min: 0, max: 3 }),
      { maxKeys: 2 },
    ),
  });

  /** The most that any set settles; sets are numbers, bit by bit. */
  function optimum(candidates: readonly Candidate<string>[], available: (key: string) => bigint): number {
    let best = 0;
    for (let set = 1; set < 1 << candidates.length; set += 1) {
      const net = new Map<string, bigint>();
      let size = 0;
      for (const [index, { effects }] of candidates.entries()) {
        if ((set & (1 << index)) === 0) continue;
        size += 1;
        for (const { key, units } of effects) net.set(key, (net.get(key) ?? available(key)) + units);
      }
      if (size > best && [...net.values()].every((units) => units >= 0n)) best = size;
    }
    return best;
  }

  /** The rule in its simplest form: from the oldest on, again after each that settled. */
  function fifo(candidates: readonly Candidate<string>[], available: (key: string) => bigint): string[] {
    const now = new Map<string, bigint>();
    const at = (key: string): bigint => now.get(key) ?? available(key);
    const settled: string[] = [];
    const waiting = [...candidates];
    for (;;) {
      const next = waiting.findIndex(({ effects }) =>
        effects.every(({ key, units }) => at(key) + units >= 0n),
      );
      if (next === -1) return settled;
      const [{ item, effects }] = waiting.splice(next, 1) as [Candidate<string>];
      for (const { key, units } of effects) now.set(key, at(key) + units);
      settled.push(item);
    }
  }

  const counts = { instances: 0, optimal: 0, optimalAlone: 0, gridlocked: 0 };
  afterAll(() => {
    const percent = (part: number): string => `${((100 * part) / counts.instances).toFixed(1)} %`;
    console.log(
      `${counts.instances} random instances of up to 12 transactions, ${percent(counts.gridlocked)} of them with a ` +
        `gridlock that was resolved: as many settle as the optimum in ${percent(counts.optimal)} ` +
        `(first-in-first-out alone: ${percent(counts.optimalAlone)})`,
    );
  });

  it('settles what first-in-first-out does and more, never below zero, and finds a set whenever there is one', () => {
    fc.assert(
      fc.property(instances, ({ legs, balances }) => {
        const candidates = legs.map((those, index) => payment(`t${index}`, ...those));
        const available = has(balances);
        const { steps, left, available: after } = choose(candidates, available);
        const settled = steps.flat();
        expect(new Set([...settled, ...left]).size).toBe(candidates.length);
        expect(settled.length + left.length).toBe(candidates.length);
        const net = new Map<string, bigint>();
        for (const step of steps) {
          for (const item of step) {
            for (const { key, units } of candidates[Number(item.slice(1))]!.effects) {
              net.set(key, (net.get(key) ?? available(key)) + units);
            }
          }
          for (const units of net.values()) expect(units).toBeGreaterThanOrEqual(0n);
        }
        for (const [key, units] of net) expect(after(key)).toBe(units);
        const alone = fifo(candidates, available);
        expect(settled.slice(0, alone.length)).toEqual(alone);
        // Nothing is left that could settle, alone or together: not only now, but as the reference sees it.
        const rest = left.map((item) => candidates[Number(item.slice(1))]!);
        expect(optimum(rest, after)).toBe(0);
        expect(choose(candidates, available).steps).toEqual(steps);
        const best = optimum(candidates, available);
        counts.instances += 1;
        if (settled.length === best) counts.optimal += 1;
        if (settled.length > alone.length) counts.gridlocked += 1;
        if (alone.length === best) counts.optimalAlone += 1;
      }),
      { numRuns: 1_000 },
    );
  });
});
