/** What operators see of the link between nodes. */
export type NodeMetrics = {
  /** A command that was handed over ended so. */
  handedOver(how: 'replied' | 'declined' | 'lost', milliseconds: number): void;
  /** A command of another node was taken. */
  taken(): void;
  linkLost(): void;
  /** Another node decides than before. */
  decidingNodeChanged(isSelf: boolean): void;
};
