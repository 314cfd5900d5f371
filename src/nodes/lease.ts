import type { Logger } from 'pino';
import type { Queryable } from '../database/database.ts';
import { createLoop } from '../kernel/loop.ts';
import { LIMITS } from '../limits.ts';
import { type DecidingNode, endDecidingLease, findDecidingNode, holdDecidingLease } from './lease-store.ts';

/**
 * Whether this node decides.
 *
 *                 the lease is free, or has ended
 *   FOLLOWING ────────────────────────────────────> DECIDING
 *       ^                                              │
 *       └── another node holds it, or it has ended ────┘
 *
 * By its own clock, a node that cannot renew the lease stops to decide when the lease has ended. Nothing depends on that: a node that
 * decides without the lease only makes the caches of the other one stale.
 */
export type Lease = {
  isHeld(): boolean;
  start(): void;
  /** Ends the lease, so that another node takes it at once. */
  stop(): Promise<void>;
};

type Dependencies = {
  readonly database: Queryable;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  self(): DecidingNode;
  /** The node that decides was looked up; undefined: none, or this one. */
  found(other: DecidingNode | undefined): void;
  /** Another node decides than at the last look. */
  changed(isSelf: boolean): void;
};

export function createLease({ database, log, self, found, changed }: Dependencies): Lease {
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  let lastId: string | undefined;
  let isEnding = false;
  const isHeld = (): boolean => !isEnding && performance.now() < heldUntilMs;

  function note(node: DecidingNode): void {
    const isSelf = node.nodeId === self().nodeId;
    if (node.nodeId !== lastId) {
      lastId = node.nodeId;
      changed(isSelf);
    }
    found(isSelf ? undefined : node);
  }

  /** True if the node holds it now. */
  async function hold(): Promise<boolean> {
    const askedMs = performance.now();
    if (!(await holdDecidingLease(database, self(), LIMITS.nodeLeaseMs))) return false;
    heldUntilMs = askedMs + LIMITS.nodeLeaseMs;
    note(self());
    return true;
  }

  async function turn(): Promise<number> {
    if (isHeld() && (await hold())) return LIMITS.nodeLeaseLookMs;
    heldUntilMs = Number.NEGATIVE_INFINITY;
    const other = await findDecidingNode(database, LIMITS.nodeLeaseMs);
    if (other !== undefined) note(other);
    // If another node was faster, it is found at the next look.
    else await hold();
    return LIMITS.nodeLeaseLookMs;
  }

  const loop = createLoop({
    turn,
    failed(error) {
      log.warn({ err: error }, 'could not read or renew the lease of the node that decides');
      return LIMITS.nodeLeaseLookMs;
    },
  });
  return {
    isHeld,
    start: () => loop.start(),
    async stop() {
      const wasHeld = isHeld();
      isEnding = true;
      await loop.stop();
      if (wasHeld) await endDecidingLease(database, self().nodeId).catch(() => undefined);
    },
  };
}
