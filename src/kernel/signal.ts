/**
 * Tells others in the same process that something happened. A signal is a hint and never carries state: a listener
 * that misses one finds the same facts in the database. It lets a part of the service be built before those that listen to it.
 */
export type Signal<Value> = {
  send(value: Value): void;
  listen(listener: (value: Value) => void): void;
};

export function createSignal<Value>(): Signal<Value> {
  const listeners: ((value: Value) => void)[] = [];
  return {
    send(value) {
      for (const listener of listeners) listener(value);
    },
    listen(listener) {
      listeners.push(listener);
    },
  };
}
