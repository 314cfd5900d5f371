/** Bounds on the link between nodes, and on the lease of the node that decides. Part of `LIMITS`. */
export const NODE_LIMITS = {
  /** How long a lease lasts without a renewal. Until then, the nodes that are left decide side by side. */
  nodeLeaseMs: 800,
  /** How often the deciding node renews its lease, and the others look who decides: one small statement each. */
  nodeLeaseLookMs: 200,
  /** How long a connection to the deciding node may take to open, with its handshake. */
  nodeLinkOpenMs: 1_000,
  /** How often a node asks the deciding node for a sign of life. */
  nodeLinkPingMs: 100,
  /** Without a sign of life for this long, the link counts as lost. Longer than a turn of the event loop under full load. */
  nodeLinkSilenceMs: 600,
  /** One message on the link: more than a request with the largest body, 1 MiB, and the caller. */
  nodeLinkLineMax: 4 * 1024 * 1024,
  /** Nodes that may be connected to the deciding node. */
  nodeLinksMax: 64,
} as const;
