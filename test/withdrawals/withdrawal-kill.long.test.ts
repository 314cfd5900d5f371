import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { auditLines } from '../support/ledger.ts';
import {
  type FerryProcess,
  makeDataDir,
  removeDataDir,
  sandboxOf,
  startFerry,
  tokenFrom,
} from '../support/process.ts';
import { unlockAsSandbox } from '../support/vault.ts';

/** Service processes on one database, ended with kill -9 at random. */
let test: TestDatabase;
const dataDir = makeDataDir();
const nodes: FerryProcess[] = [];

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.end('SIGKILL')));
  await test.drop();
  await removeDataDir(dataDir);
});

function start(): Promise<FerryProcess> {
  const { socketDir, port, user } = inject('postgres');
  const { database } = test.address as { database: string };
  const where = new URLSearchParams({ host: socketDir, port: String(port), user });
  return startFerry({
    DATABASE_URL: `postgres:///${database}?${where.toString()}`,
    FERRY_DATA_DIR: dataDir,
    FERRY_SANDBOX_SPEED: '6000',
    // One issuer of tokens for all nodes.
    FERRY_PUBLIC_URL: 'http://ferry.test',
  });
}

const startNodes = (count: number): Promise<FerryProcess[]> =>
  Promise.all(Array.from({ length: count }, start));

const NODES = 3;
const WITHDRAWALS = 400;
const KILLS_MIN = 6;
/** Withdrawals that are sent at once. */
const PART = 20;
const MEMOS = ['', '', '', 'sandbox:refuse', 'sandbox:fail', 'sandbox:twice', 'sandbox:down', 'sandbox:lost'];

it('the rail’s record and the ledger agree after processes were killed in the middle of withdrawals', async () => {
  nodes.push(await start());
  nodes.push(...(await startNodes(NODES - 1)));
  const [customer] = sandboxOf(dataDir).customers;
  const token = await tokenFrom(nodes[0]!.url, customer!);
  const profile = customer!.profiles[0]!.id;

  /** Sent to any running node until it is answered: the ref_id makes that safe. */
  async function withdraw(index: number): Promise<void> {
    const memo = MEMOS[index % MEMOS.length]!;
    const isFiat = index % 2 === 0;
    const body = isFiat
      ? { fiat_account_id: customer!.fiat_account_id, asset: 'USD', amount: `${index + 1}.25` }
      : {
          asset: 'ETH',
          crypto_network: 'ETHEREUM',
          destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
          amount: `0.${index + 1001}`,
        };
    for (;;) {
      const { url } = nodes[Math.floor(Math.random() * nodes.length)]!;
      const answer = await fetch(`${url}/v2/transfer/${isFiat ? 'fiat' : 'crypto'}-withdrawals`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, profile_id: profile, memo, ref_id: `w-${index}` }),
      }).catch(() => undefined);
      if (answer?.status === 200) return;
      if (answer !== undefined && answer.status < 500) throw new Error(await answer.text());
      await sleep(50);
    }
  }

  const progress = { isSending: true };
  const sent = (async () => {
    for (let from = 0; from < WITHDRAWALS; from += PART) {
      await Promise.all(Array.from({ length: PART }, (_, index) => withdraw(from + index)));
      await sleep(150);
    }
  })().finally(() => {
    progress.isSending = false;
  });
  // Awaited below; until then a failure must not end the whole run.
  sent.catch(() => undefined);
  let kills = 0;
  while (progress.isSending || kills < KILLS_MIN) {
    await sleep(200 + Math.random() * 400);
    const victim = Math.floor(Math.random() * nodes.length);
    await nodes[victim]!.end('SIGKILL');
    nodes[victim] = await start();
    kills += 1;
  }
  await sent;

  // The last kill is one of all nodes. Their leases last for half a minute. The test skips that time once their last
  // statements have ended: a request must not arrive after another node has concluded that it was lost.
  await Promise.all(nodes.map((node) => node.end('SIGKILL')));
  const sessions = `select from pg_stat_activity
                    where datname = current_database() and application_name = 'ferry-node'`;
  await expect.poll(() => test.database.query(sessions)).toEqual([]);
  await test.database.query(
    'update withdrawal_work set due_at_ns = due_at_ns - 31000000000, intent_at_ns = intent_at_ns - 31000000000',
  );
  nodes.splice(0, nodes.length, ...(await startNodes(NODES)));
  const pending = async (): Promise<number> => {
    const [row] = await test.database.query<{ count: number }>(
      'select count(*)::integer as count from withdrawal_work',
    );
    return row!.count;
  };
  await expect.poll(pending, { timeout: 240_000 }).toBe(0);
  const disagreements = await test.database.query(
    `select t.id, t.status, t.secondary_status, p.behaviour, p.requests
     from transfers t full join sandbox_payments p on p.key = t.id::text
     where (t.direction = 'DEBIT' or t.id is null)
       and (t.id is null or p.key is null or p.requests <> 1 or p.amount_units <> t.amount_units or t.status = 'PENDING'
            or (t.status = 'COMPLETED') = (p.behaviour in ('refuse', 'fail')))`,
  );
  expect(disagreements).toEqual([]);
  const [count] = await test.database.query(
    `select count(*)::integer as all, count(distinct ref_id)::integer as refs from transfers where direction = 'DEBIT'`,
  );
  expect(count).toEqual({ all: WITHDRAWALS, refs: WITHDRAWALS });
  expect(await auditLines(await unlockAsSandbox(test.database))).toEqual([]);
  console.log(`${kills} kills`);
}, 900_000);
