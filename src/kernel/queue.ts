/** Work that waits for its turn. Both figures are cheap: they are compared for every request. */
export type Queue = {
  /** How many wait now. */
  waiting(): number;
  /** How many have ever entered; those that had their turn at once are included. */
  entered(): number;
};

/** Both as one. */
export const sumOf = (one: Queue, other: Queue): Queue => ({
  waiting: () => one.waiting() + other.waiting(),
  entered: () => one.entered() + other.entered(),
});
