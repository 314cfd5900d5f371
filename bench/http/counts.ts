// What nodes count, from their metrics.
import type { Service } from './stage.ts';

export type Counts = Readonly<
  Record<'batches' | 'commands' | 'stale' | 'replied' | 'others' | 'handedOverSeconds', number>
>;

const METRICS: Readonly<Record<keyof Counts, string>> = {
  batches: 'ferry_ledger_batch_commands_count',
  commands: 'ferry_ledger_batch_commands_sum',
  stale: 'ferry_ledger_troubles_total{what="stale-cache"}',
  replied: 'ferry_node_handed_over_total{how="replied"}',
  others: 'ferry_node_handed_over_total{how="lost"}',
  handedOverSeconds: 'ferry_node_handed_over_seconds_total',
};

/** Of all nodes together. */
export async function countsOf(services: readonly Service[]): Promise<Counts> {
  const texts = await Promise.all(services.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()));
  const valueIn = (text: string, name: string): number => {
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    return line === undefined ? 0 : Number(line.slice(name.length + 1));
  };
  const entries = Object.entries(METRICS).map(([key, name]) => [
    key,
    texts.reduce((sum, text) => sum + valueIn(text, name), 0),
  ]);
  return Object.fromEntries(entries) as Counts;
}
