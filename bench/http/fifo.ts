/**
 * A queue. `Array.shift` of a long array moves all its elements: a load that falls behind would use up the processor of the
 * service that it measures, and fall behind further.
 */
export type Fifo<Item> = {
  push(item: Item): void;
  shift(): Item | undefined;
  takeAll(): Item[];
};

/** Taken items are forgotten in pieces of this many. */
const PIECE = 1_024;

export function createFifo<Item>(): Fifo<Item> {
  let items: Item[] = [];
  let taken = 0;
  return {
    push: (item) => void items.push(item),
    shift() {
      if (taken === items.length) return undefined;
      const item = items[taken]!;
      taken += 1;
      if (taken >= PIECE && taken * 2 >= items.length) {
        items = items.slice(taken);
        taken = 0;
      }
      return item;
    },
    takeAll() {
      const rest = items.slice(taken);
      items = [];
      taken = 0;
      return rest;
    },
  };
}
