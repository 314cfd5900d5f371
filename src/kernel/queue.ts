/** Work that waits for its turn. Both figures are cheap: they are compared for every request. */
export type Queue = {
  /** How many wait now. */
  waiting(): number;
  /** How many have ever entered; those that had their turn at once are included. */
  entered(): number;
};
