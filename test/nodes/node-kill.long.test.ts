import { afterAll, beforeAll, expect, it } from 'vitest';
import { auditEverything } from '../../src/ledger/audit.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { assets } from '../support/ledger.ts';
import { foundRefIds, type Load, startLoad } from '../support/load.ts';
import {
  type FerryProcess,
  makeDataDir,
  removeDataDir,
  sandboxOf,
  startFerry,
  tokenFrom,
  urlOf,
} from '../support/process.ts';
import { until } from '../support/until.ts';
import { unlockAsSandbox } from '../support/vault.ts';

const dataDir = makeDataDir();
let test: TestDatabase;
const nodes: FerryProcess[] = [];
beforeAll(async () => {
  test = await createTestDatabase();
  for (let count = 0; count < 3; count += 1) nodes.push(await startNode());
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.end('SIGKILL')));
  await test.drop();
  await removeDataDir(dataDir);
});

const ROUNDS = 20;

const startNode = (): Promise<FerryProcess> =>
  startFerry({ DATABASE_URL: urlOf(test.address), FERRY_DATA_DIR: dataDir, FERRY_NODE_LINK: 'on' });

async function metric({ url }: FerryProcess, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length),
  );
}

/** Once one node decides, and both others hand over to it. */
async function decidingNode(): Promise<FerryProcess> {
  let found: FerryProcess | undefined;
  const taken = new Map<FerryProcess, number>();
  const replied = (node: FerryProcess) => metric(node, 'ferry_node_handed_over_total{how="replied"}');
  for (const node of nodes) taken.set(node, await replied(node));
  await until('one node decides, and the others hand over', async () => {
    const decides = await Promise.all(nodes.map((node) => metric(node, 'ferry_node_decides')));
    found = nodes[decides.indexOf(1)];
    const others = nodes.filter((node) => node !== found);
    const grown = await Promise.all(others.map(async (node) => (await replied(node)) > taken.get(node)!));
    return decides.filter((one) => one === 1).length === 1 && grown.every(Boolean);
  });
  return found!;
}

async function loadOn(node: FerryProcess, prefix: string): Promise<Load> {
  const [customer, counterparty] = sandboxOf(dataDir).customers;
  return startLoad({
    url: node.url,
    token: await tokenFrom(node.url, customer!),
    from: customer!.profiles[0]!.id,
    to: counterparty!.profiles[0]!.id,
    writers: 12,
    someWithoutRefId: true,
    prefix,
  });
}

it('the others lose and double nothing, and refuse nothing, when the deciding node is killed under load, again and again', async () => {
  const acknowledged = new Set<string>();
  const sent = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const loads = new Map<FerryProcess, Load>();
    for (const [index, node] of nodes.entries()) loads.set(node, await loadOn(node, `${round}-${index}`));
    const killed = await decidingNode();
    const others = nodes.filter((node) => node !== killed);
    for (const node of others) await loads.get(node)!.untilMore(20 + Math.floor(Math.random() * 100));
    await killed.end('SIGKILL');
    for (const node of others) await loads.get(node)!.untilMore(100);
    for (const load of loads.values()) {
      await load.stop();
      for (const refId of load.acknowledged) acknowledged.add(refId);
      for (const refId of [...load.acknowledged, ...load.undecided]) sent.add(refId);
    }
    for (const node of others) expect([...loads.get(node)!.statuses.keys()]).toEqual([200]);
    nodes.splice(nodes.indexOf(killed), 1, await startNode());
  }
  const found = await foundRefIds(test.database);
  expect(acknowledged.size).toBeGreaterThan(ROUNDS * 200);
  expect([...acknowledged].filter((refId) => !found.has(refId))).toEqual([]);
  expect([...found].filter(([refId, times]) => times !== 1 || !sent.has(refId))).toEqual([]);
  const report = await auditEverything(await unlockAsSandbox(test.database), assets);
  expect(report.violations).toEqual([]);
});
