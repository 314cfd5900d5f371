import type { ConfiguredRail, RailAdapter, RailNode } from './kind.ts';

/** Opens the configured rails. A rail that cannot reach its other side opens nevertheless: it may be reachable later. */
export function openRails(rails: readonly ConfiguredRail[], node: RailNode): Promise<RailAdapter[]> {
  return Promise.all(rails.map((rail) => rail.open(node)));
}
