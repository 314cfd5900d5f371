import { type RunningNode, startAnvil } from './anvil.ts';
import type { ChainPlan, EvmNodePlan, SolanaNodePlan } from './plan.ts';
import { startSurfpool } from './surfpool.ts';

/**
 * The process that runs the local nodes of `ferry sandbox --chains`. It ends them when its standard input is closed: that happens
 * however the service ends, even by kill -9. It prints a line of JSON for each node that is ready, and one for each that has ended.
 */
export type Order = {
  readonly plan: ChainPlan;
  readonly anvil: string | undefined;
  readonly surfpool: string | undefined;
};

const order = JSON.parse(process.argv[2]!, (_, value: unknown) =>
  typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
) as Order;

const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const ends: (() => void)[] = [];
const onEnd = (one: () => void): void => void ends.push(one);

function end(): void {
  for (const one of ends) one();
  process.exit(0);
}
process.stdin.resume();
process.stdin.on('end', end);
process.stdin.on('error', end);
process.on('SIGTERM', end);

async function ready(starting: Promise<RunningNode>): Promise<void> {
  const { node, ended } = await starting;
  say({ ready: node });
  void ended.then(() => say({ ended: node.network }));
}

const { plan, anvil, surfpool } = order;
try {
  await Promise.all([
    ...plan.evm.map((one: EvmNodePlan) => ready(startAnvil(anvil!, one, onEnd))),
    ...[plan.solana].flatMap((one: SolanaNodePlan | undefined) =>
      one === undefined ? [] : [ready(startSurfpool(surfpool!, one, onEnd))],
    ),
  ]);
} catch (error) {
  say({ failed: (error as Error).message });
}
