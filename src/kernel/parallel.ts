/** Runs `work` for every item, at most so many at a time. Rejects with the first error once what has started has ended. */
export async function inParallel<Item>(
  items: readonly Item[],
  max: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  async function run(): Promise<void> {
    for (const item of rest) await work(item);
  }
  const ended = await Promise.allSettled(Array.from({ length: Math.min(max, items.length) }, run));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}
