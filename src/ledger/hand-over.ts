import type { Ended } from './write-path.ts';

/**
 * Nodes that share balances make each other's caches stale. So one of them decides at a time, and the others hand over what it can
 * execute from a text: the request, and who sends it. What is true stays with the transaction: if two nodes decide, both are only
 * slower.
 */
export type HandOver = {
  /** Whether another node decides now, and can be reached. */
  isElsewhere(): boolean;
  /**
   * How the command ended on the node that decides. `declined`: it was not executed there. `lost`: it is not known whether it was, or
   * still will be.
   */
  send(text: string): Promise<Ended<string> | 'declined' | 'lost'>;
  /** What this node does with a text that another one hands over. */
  serve(execute: (text: string) => Promise<Ended<string>>): void;
};

/** Of a node without a link. */
export const DECIDES_ALONE: HandOver = {
  isElsewhere: () => false,
  send: () => Promise.resolve('declined'),
  serve: () => undefined,
};
