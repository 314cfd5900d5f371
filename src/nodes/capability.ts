import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { Capability } from '../kernel/capability.ts';
import { newId } from '../kernel/id.ts';
import type { Queue } from '../kernel/queue.ts';
import type { Vault } from '../kernel/vault.ts';
import type { Worker } from '../kernel/worker.ts';
import { DECIDES_ALONE, type HandOver } from '../ledger/hand-over.ts';
import type { Ended } from '../ledger/write-path.ts';
import { createLease } from './lease.ts';
import { createLinkClient } from './link-client.ts';
import { createLinkServer } from './link-server.ts';
import type { NodeMetrics } from './metrics.ts';

type Dependencies = {
  /** Where this node listens for others; undefined: it takes no part. */
  readonly nodeLink: { readonly host: string; readonly port: number } | undefined;
  readonly database: Database;
  readonly vault: Vault;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly metrics: { readonly nodes: NodeMetrics };
  /** Another node decides than before: what this one has cached is from before that. */
  forgetBalances(): void;
};

type Nodes = Capability & {
  readonly handOver: HandOver;
  /** Commands that other nodes execute for this one. */
  readonly handedOver: Queue;
};

const NOTHING: Queue = { waiting: () => 0, entered: () => 0 };

const addressOf = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** Several nodes on one database: one of them decides, and the others hand over to it. */
export function createNodes(dependencies: Dependencies): Nodes {
  const { nodeLink, database, vault, log, metrics, forgetBalances } = dependencies;
  if (nodeLink === undefined) return { name: 'nodes', handOver: DECIDES_ALONE, handedOver: NOTHING };
  const nodeId = newId();
  let address = addressOf(nodeLink.host, nodeLink.port);
  let execute: ((text: string) => Promise<Ended<string>>) | undefined;
  const client = createLinkClient({
    vault,
    lost(commands, reason) {
      metrics.nodes.linkLost();
      // Nothing waits when a node stops as it should.
      const level = commands === 0 ? 'info' : 'warn';
      log[level](
        { commands, reason },
        'the link to the node that decides was lost; this node decides meanwhile',
      );
    },
  });
  const server = createLinkServer({
    ...nodeLink,
    vault,
    execute(text) {
      if (!lease.isHeld()) return undefined;
      metrics.nodes.taken();
      return execute?.(text);
    },
  });
  const lease = createLease({
    database,
    log,
    self: () => ({ nodeId, address }),
    found: client.follow,
    changed(isSelf) {
      metrics.nodes.decidingNodeChanged(isSelf);
      forgetBalances();
    },
  });
  return {
    name: 'nodes',
    handedOver: client.queue,
    handOver: {
      isElsewhere: () => client.isOpen(),
      async send(text) {
        const startedMs = performance.now();
        const reply = await client.send(text);
        metrics.nodes.handedOver(
          typeof reply === 'string' ? reply : 'replied',
          performance.now() - startedMs,
        );
        return reply;
      },
      serve(executeText) {
        execute = executeText;
      },
    },
    workers: workersOf({
      async listen() {
        address = addressOf(nodeLink.host, await server.listen());
      },
      lease,
      async close() {
        client.follow(undefined);
        await server.close();
      },
    }),
  };
}

/**
 * The link is there before the first request and after the last one. The lease ends before that, when the node stops to serve: then
 * the others hand over to the next one.
 */
function workersOf(parts: {
  listen(): Promise<void>;
  readonly lease: ReturnType<typeof createLease>;
  close(): Promise<void>;
}): Worker[] {
  return [
    { name: 'node link', stage: 'core', start: parts.listen, stop: parts.close },
    { name: 'lease of the deciding node', stage: 'edge', start: parts.lease.start, stop: parts.lease.stop },
  ];
}
