import { afterAll, beforeAll, expect, it } from 'vitest';
import { ENTRY_CHECKS } from '../../src/ledger/audit-checks.ts';
import { CLAIM_DUE, claimDue } from '../../src/withdrawals/store.ts';
import { unguarded } from '../support/database.ts';
import { available, held, move } from '../support/ledger.ts';
import { RAIL_NAMES } from '../support/networks.ts';
import { createWorld, type World } from '../support/payouts.ts';
import { rounds } from '../support/rounds.ts';

/** Withdrawals that wait for confirmations cost the database nothing until they are due. */
type Looks = { readonly idle: Awaited<ReturnType<typeof explainClaim>>; readonly due: Looks['idle'] };
const FEW = 1_000;
const MANY = rounds(10_000, 100_000);
let world: World;
let profile: string;
let few: Looks;
let many: Looks;
beforeAll(async () => {
  world = await createWorld();
  profile = await world.createProfile({ BTC: '100000' });
  await addWaiting(FEW);
  few = { idle: await explainClaim(0), due: await explainClaim(2_400_000) };
  await addWaiting(MANY - FEW);
  many = { idle: await explainClaim(0), due: await explainClaim(2_400_000) };
});
afterAll(async () => {
  await world.database.query('delete from withdrawal_work');
  await unguarded(world.database).query('delete from transfers where profile_id = $1', [profile]);
  const back = { asset: 'BTC', from: held(profile), to: available(profile), units: BigInt(MANY) * 1_000n };
  await world.createNode().writePath.submit(move([back]));
  // Its withdrawals were made without the service.
  await world.drop(ENTRY_CHECKS);
});

const NETWORKS = ['BITCOIN', 'ETHEREUM', 'LITECOIN', 'SOLANA'];
/** Rows of one statement. */
const PART = 1_000;

/** As the workers leave them: submitted, and to be asked about in ten to forty minutes. */
async function addWaiting(count: number): Promise<void> {
  const node = world.createNode();
  await node.writePath.submit(
    move([{ asset: 'BTC', from: available(profile), to: held(profile), units: BigInt(count) * 1_000n }]),
  );
  const [networks, now] = [`{${NETWORKS.join(',')}}`, world.now()];
  // In parts, so that no statement comes near its timeout on a busy machine.
  for (let last = PART; last <= count; last += PART) {
    await world.database.query(
      `with made as (
         insert into transfers (id, customer_id, profile_id, type, direction, status, asset, amount_units, fee_units,
                                balance_asset, balance_units, created_at_ns, updated_at_ns, crypto_network)
         select gen_random_uuid(), $1, $2, 'CRYPTO_WITHDRAWAL', 'DEBIT', 'PENDING', 'BTC', 1000, 0, 'BTC', 1000, n, n,
                ($4::text[])[1 + n % 4]
         from generate_series($6::integer, $3::integer) as n
         returning id, customer_id, profile_id, crypto_network, created_at_ns)
       insert into withdrawal_work (transfer_id, customer_id, profile_id, rail, state, due_at_ns, attempts, intent_at_ns)
       select id, customer_id, profile_id, crypto_network, 'SUBMITTED', $5::bigint + (600 + created_at_ns % 1800) * 1000000000, 1, 0 from made`,
      [world.caller.customerId, profile, last, networks, now, last - PART + 1],
    );
  }
  await world.database.query('analyze withdrawal_work');
}

type Plan = { 'Node Type': string; 'Relation Name'?: string; 'Index Name'?: string; Plans?: Plan[] };
type Explained = {
  Plan: Plan & { 'Shared Hit Blocks': number; 'Shared Read Blocks': number };
  'Execution Time': number;
};

const limits = RAIL_NAMES.map((rail) => ({ rail, free: 16 }));

/** The plan and the reads of the claim that the workers run. It is rolled back. */
async function explainClaim(offsetMs: number) {
  const connection = await world.database.reserve();
  try {
    await connection.query('begin');
    const literal = CLAIM_DUE.replaceAll('$1', `${BigInt(offsetMs) * 1_000_000n}`)
      .replaceAll('$2', `'{${limits.map((limit) => limit.rail).join(',')}}'`)
      .replaceAll('$3', `'{${limits.map((limit) => limit.free).join(',')}}'`)
      .replaceAll('$4', '60000000000');
    const [row] = await connection.query<{ 'QUERY PLAN': Explained[] }>(
      `explain (analyze, buffers, format json) ${literal}`,
    );
    const [explained] = row!['QUERY PLAN'];
    const nodes: Plan[] = [];
    const walk = (plan: Plan): void => {
      nodes.push(plan);
      for (const below of plan.Plans ?? []) walk(below);
    };
    walk(explained!.Plan);
    const scans = nodes
      .filter((one) => one['Index Name'] !== undefined || one['Node Type'] === 'Seq Scan')
      .map((one) => `${one['Node Type']} on ${one['Index Name'] ?? one['Relation Name']}`);
    const { Plan: top } = explained!;
    return {
      blocks: top['Shared Hit Blocks'] + top['Shared Read Blocks'],
      milliseconds: explained!['Execution Time'],
      scans,
    };
  } finally {
    await connection.query('rollback');
    connection.release();
  }
}

it('the cost of a claim grows with what is due, not with the many that wait', () => {
  console.table({
    '1,000 wait, none is due': few.idle,
    'many wait, none is due': many.idle,
    '1,000 wait, 64 are claimed': few.due,
    'many wait, 64 are claimed': many.due,
  });
  for (const one of [few, many].flatMap(({ idle, due }) => [idle, due])) {
    expect(one.scans.join()).not.toContain('Seq Scan');
  }
  expect(many.idle.scans).toEqual([
    'Index Scan on withdrawal_work_due',
    expect.stringMatching(/Index Scan on withdrawal_work_pkey$/),
  ]);
  // Perhaps one more level of the index for each of the 14 rails, but not a hundred times as much.
  expect(many.idle.blocks).toBeLessThan(few.idle.blocks + 2 * RAIL_NAMES.length + 5);
  expect(many.due.blocks).toBeLessThan(few.due.blocks * 3);
});

it('the prepared statement keeps that plan after many runs', async () => {
  const before = await world.database.query<{ seq_scan: bigint }>(
    `select seq_scan from pg_stat_user_tables where relname = 'withdrawal_work'`,
  );
  const started = performance.now();
  for (let round = 0; round < 200; round += 1) await claimDue(world.database, limits, 0n, 60_000_000_000n);
  const each = (performance.now() - started) / 200;
  await world.database.query('select pg_stat_force_next_flush()');
  const after = await world.database.query<{ seq_scan: bigint }>(
    `select seq_scan from pg_stat_user_tables where relname = 'withdrawal_work'`,
  );
  console.log(`a look with ${MANY} waiting and hardly any due: ${each.toFixed(2)} ms, round trip included`);
  expect(after).toEqual(before);
});

it('a worker asks about the withdrawals that are due, and about no others', async () => {
  const asked = new Set<string>();
  const node = world.createNode({
    wrapRail: (rail) => ({
      ...rail,
      ask: async (key) => {
        asked.add(key);
        return { kind: 'pending', nextAskMs: 600_000, confirmations: { have: 1, need: 3 } };
      },
    }),
  });
  await world.database.query('create table due_before as select transfer_id, due_at_ns from withdrawal_work');
  world.advance(605_000);
  const due = await world.database.query<{ transfer_id: string }>(
    'select transfer_id from due_before where due_at_ns <= $1',
    [world.now()],
  );
  expect(due.length).toBeGreaterThan(MANY / 1_000);
  while (!due.every(({ transfer_id }) => asked.has(transfer_id))) await node.worker.runDue();
  const tooEarly = await world.database.query(
    'select from due_before where transfer_id = any ($1::uuid[]) and due_at_ns > $2',
    [`{${[...asked].join(',')}}`, world.now()],
  );
  expect(tooEarly).toEqual([]);
});
