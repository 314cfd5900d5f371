import type { Queue } from '../kernel/queue.ts';
import type { Vault } from '../kernel/vault.ts';
import type { DecidingNode } from './lease-store.ts';
import { type Link, openLink, type Reply } from './link.ts';

/** The link to the node that decides, whichever that is. */
export type LinkClient = {
  /** Connects to this node, unless it is connected to it; undefined: to none. */
  follow(node: DecidingNode | undefined): void;
  isOpen(): boolean;
  send(text: string): Promise<Reply>;
  /** Commands that wait for their reply. */
  readonly queue: Queue;
};

type Dependencies = {
  readonly vault: Vault;
  lost(commands: number, reason: string): void;
};

export function createLinkClient({ vault, lost }: Dependencies): LinkClient {
  /** The current one, and those of earlier nodes that still wait for replies. */
  const links = new Set<Link>();
  let current: Link | undefined;
  let entered = 0;

  function forgetClosed(): void {
    for (const link of links) if (link.isClosed()) links.delete(link);
  }

  return {
    follow(node) {
      forgetClosed();
      if (current !== undefined && current.node.nodeId !== node?.nodeId) {
        current.retire();
        current = undefined;
      }
      if (node === undefined || current?.isClosed() === false) return;
      current = openLink(node, vault, lost);
      links.add(current);
    },
    isOpen: () => current?.isOpen() === true,
    send(text) {
      if (current?.isOpen() !== true) return Promise.resolve('declined');
      entered += 1;
      return current.send(text);
    },
    queue: {
      waiting() {
        let waiting = 0;
        for (const link of links) waiting += link.waiting();
        return waiting;
      },
      entered: () => entered,
    },
  };
}
