import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { LIMITS } from '../../limits.ts';
import type { Order } from './nodes-process.ts';
import type { ChainPlan, LocalNode } from './plan.ts';
import type { Programs } from './programs.ts';

export type LocalChains = {
  readonly nodes: readonly LocalNode[];
  stop(): Promise<void>;
};

type Line = { readonly ready: LocalNode } | { readonly ended: string } | { readonly failed: string };

const textOf = (order: Order): string =>
  JSON.stringify(order, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));

/** Starts a node for each network of the plan. Resolves when all of them answer. */
export async function startLocalChains(
  plan: ChainPlan,
  { anvil, surfpool }: Programs,
  say: (text: string) => void,
): Promise<LocalChains> {
  const program = join(import.meta.dirname, 'nodes-process.ts');
  // In a group of its own: at Ctrl-C the service stops before the nodes that it uses.
  const child = spawn(process.execPath, [...process.execArgv, program, textOf({ plan, anvil, surfpool })], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const wanted = plan.evm.length + (plan.solana === undefined ? 0 : 1);
  const nodes: LocalNode[] = [];
  let isStopping = false;
  const stop = async (): Promise<void> => {
    isStopping = true;
    child.stdin.end();
    await exited;
  };
  const started = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = JSON.parse(text) as Line;
      if ('failed' in line) reject(new Error(`A local node could not be started: ${line.failed}`));
      else if ('ready' in line) {
        nodes.push(line.ready);
        if (nodes.length === wanted) resolve();
      } else if (!isStopping) say(`The local node of ${line.ended} has ended.`);
    });
    void exited.then(() => reject(new Error('The process of the local nodes has ended.')));
    const seconds = LIMITS.localChainStartMs / 1_000;
    setTimeout(
      () => reject(new Error(`The local nodes did not start within ${seconds} seconds.`)),
      LIMITS.localChainStartMs,
    ).unref();
  });
  try {
    await started;
  } catch (error) {
    await stop();
    throw error;
  }
  return { nodes, stop };
}
