import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertAssignment, insertVersion } from '../../src/chains/assignment-store.ts';
import { findCandidate } from '../../src/chains/cancel-store.ts';
import type { Draft } from '../../src/chains/driver.ts';
import { endCommand } from '../../src/chains/ending.ts';
import { recover } from '../../src/chains/recover.ts';
import { knownAssignments } from '../../src/chains/recover-store.ts';
import { newId } from '../../src/kernel/id.ts';
import type { SignedRecord } from '../../src/signer/contract.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestWritePath } from '../support/ledger.ts';
import { until } from '../support/until.ts';

/** What is decided about an assignment while another transaction adds a version to it. */
const LANE = '0x0000000000000000000000000000000000000001';
const facts = { network: 'ETHEREUM', networkName: 'Ethereum', feeAsset: 'ETH', confirmations: 1 } as const;
const draft = (slot: string): Draft => ({ purpose: 'UPKEEP', slot, details: {}, payments: [], coins: [] });
const version = (hash: string) => ({ hash, bytes: '', feeUnitsMax: 1n, feeRate: 1n });

let test: TestDatabase;
let path: ReturnType<typeof createTestWritePath>;
beforeAll(async () => {
  test = await createTestDatabase();
  path = createTestWritePath(test.database);
});
afterAll(async () => {
  await path.stop();
  await test.drop();
});

let slots = 0;
/** With one version. */
async function assigned() {
  const id = newId();
  const slot = String(slots++);
  await test.database.transaction(async (tx) => {
    await insertAssignment(tx, { id, network: 'ETHEREUM', lane: LANE, feeAsset: 'ETH' }, draft(slot), 1n);
    await insertVersion(tx, id, 1, version(`0x1${id}`), 1n);
  });
  return { ...draft(slot), id, lane: LANE, assignedAtMs: 0 };
}

const untilOneWaits = (): Promise<void> =>
  until('a session waits for the lock', async () => {
    const rows = await test.database.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });

/** `work` begins while another transaction has locked the assignment, and goes on when that has added a version to it. */
async function meanwhile<T>(id: string, work: () => Promise<T>): Promise<T> {
  const { begun } = await test.database.transaction(async (tx) => {
    await knownAssignments(tx, [id]);
    await insertVersion(tx, id, 2, version(`0x2${id}`), 2n);
    const working = work();
    await untilOneWaits();
    return { begun: working };
  });
  return begun;
}

const stateOf = (id: string) =>
  test.database.query('select state from chain_assignments where id = $1', [id]);

describe('an assignment that gets another version', () => {
  it('is not taken for dead by a keeper that knew only the first one', async () => {
    const assignment = await assigned();
    const ended = await meanwhile(assignment.id, () =>
      path.submit(endCommand(assignment, { kind: 'superseded', by: undefined }, { ...facts, versions: 1 })),
    );
    expect(ended).toMatchObject({ answer: 'known' });
    expect(await stateOf(assignment.id)).toEqual([{ state: 'ASSIGNED' }]);
  });

  it('is seen with it by an operator who cancels', async () => {
    const { id } = await assigned();
    const found = await meanwhile(id, () =>
      test.database.transaction((tx) => findCandidate(tx, 'ETHEREUM', { id }, 'lock')),
    );
    expect(found).toMatchObject({ id, state: 'ASSIGNED', versions: 2 });
  });

  it('is seen with it by a recovery from the log of the signer, which adds what is missing', async () => {
    const { id, slot } = await assigned();
    const record = (hash: string) =>
      ({
        assignmentId: id,
        lane: LANE,
        slot,
        hash,
        purpose: 'UPKEEP',
        details: {},
      }) as unknown as SignedRecord;
    const records = ['1', '2', '3'].map((number) => ({
      ...record(`0x${number}${id}`),
      payments: [],
      coins: [],
      feeUnitsMax: '1',
    }));
    const { recovered } = await meanwhile(id, () =>
      recover(test.database, records, { network: 'ETHEREUM', feeAsset: 'ETH' }, 0),
    );
    expect(recovered).toMatchObject([{ assignmentId: id, outcome: 'recovered' }]);
    const rows = await test.database.query(
      'select number, hash from chain_versions where assignment_id = $1 order by number',
      [id],
    );
    expect(rows).toEqual([1, 2, 3].map((number) => ({ number, hash: `0x${number}${id}` })));
  });
});
