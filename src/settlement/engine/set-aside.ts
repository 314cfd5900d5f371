import type { Settlement } from '../transaction.ts';

/** Transactions that could not be tried, because of a bug, or because another session keeps a balance locked. */
export type SetAside = {
  add(many: readonly Settlement[], error: unknown, forMs: number): void;
  has(id: string): boolean;
  ids(): string[];
};

export function createSetAside(failed: (error: unknown, what: string) => void): SetAside {
  const untilById = new Map<string, number>();
  return {
    add(many, error, forMs) {
      failed(error, `could not try settlement transactions: ${many.map(({ id }) => id).join(', ')}`);
      for (const { id } of many) untilById.set(id, performance.now() + forMs);
    },
    has: (id) => (untilById.get(id) ?? 0) > performance.now(),
    ids() {
      for (const [id, until] of untilById) if (until < performance.now()) untilById.delete(id);
      return [...untilById.keys()];
    },
  };
}
