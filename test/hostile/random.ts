/** A source of choices that depends on a seed and a number only: every request can be made again without those before it. */
export type Random = {
  /** From 0 up to, but not including, 1. */
  next(): number;
  below(bound: number): number;
  pick<Item>(items: readonly Item[]): Item;
  chance(probability: number): boolean;
  /** An id in the form of Ferry's own, but of nothing that exists: it shares the time of a real one. */
  idLike(id: string): string;
};

/** One step of splitmix32: also mixes the seed, so that neighbouring numbers give unrelated choices. */
function mix(state: number): number {
  let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

export function createRandom(seed: number, number: number): Random {
  let state = mix(mix(seed >>> 0) ^ Math.imul(number + 1, 0x9e3779b9));
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0;
    return mix(state) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    below,
    pick: (items) => items[below(items.length)]!,
    chance: (probability) => next() < probability,
    idLike: (id) => id.slice(0, -12) + Array.from({ length: 12 }, () => below(16).toString(16)).join(''),
  };
}

/** Each item as often as its weight says. */
export function pickWeighted<Item>(random: Random, weights: readonly (readonly [Item, number])[]): Item {
  let left = random.next() * weights.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [item, weight] of weights) {
    left -= weight;
    if (left < 0) return item;
  }
  return weights.at(-1)![0];
}
