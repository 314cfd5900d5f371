/**
 * A bounded cache that drops roughly the least recently used entries. It has two generations, and an entry that is used
 * in the old one moves to the young one. A hit in the young one writes nothing, unlike an exact LRU on a Map, which
 * deletes and inserts on each hit (150 ns instead of 30).
 */
export type Generations<Value> = {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  keys(): string[];
};

export function createGenerations<Value>(entriesMax: number): Generations<Value> {
  const generationMax = Math.max(1, Math.floor(entriesMax / 2));
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();

  function set(key: string, value: Value): void {
    if (young.size >= generationMax && !young.has(key)) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
  }

  return {
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const kept = old.get(key);
      if (kept !== undefined) set(key, kept);
      return kept;
    },
    set,
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
    keys: () => [...new Set([...young.keys(), ...old.keys()])],
  };
}
