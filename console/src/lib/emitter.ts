import { useSyncExternalStore } from 'react';

/** A value outside of React that components follow. */
export type Cell<Value> = {
  get(): Value;
  set(next: Value): void;
  subscribe(listener: () => void): () => void;
};

export function cell<Value>(initial: Value): Cell<Value> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export const useCell = <Value>(followed: Cell<Value>): Value =>
  useSyncExternalStore(followed.subscribe, followed.get);
