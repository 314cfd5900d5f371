/**
 * The mode of a state machine, as one value. Only the transitions that are listed may happen: any other one is a bug, and
 * throws where it happens instead of showing up later as a stalled queue.
 */
export type Modes<Mode extends { readonly name: string }> = {
  /** What it is now. Narrowed by its name. */
  now(): Mode;
  is(name: Mode['name']): boolean;
  become(next: Mode): void;
};

export function createModes<Mode extends { readonly name: string }>(
  what: string,
  first: Mode,
  transitions: Readonly<Record<Mode['name'], readonly Mode['name'][]>>,
): Modes<Mode> {
  let mode = first;
  return {
    now: () => mode,
    is: (name) => mode.name === name,
    become(next) {
      const from: Mode['name'] = mode.name;
      if (!transitions[from].includes(next.name))
        throw new Error(`${what} cannot go from ${from} to ${next.name}`);
      mode = next;
    },
  };
}
