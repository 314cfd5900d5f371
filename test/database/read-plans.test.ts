import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Queryable } from '../../src/database/database.ts';
import { suspenseBacklog } from '../../src/deposits/backlog-store.ts';
import { listAddresses, listInstructions, listSuspense } from '../../src/deposits/store.ts';
import { feedBacklog } from '../../src/events/backlog-store.ts';
import { FEED_START, LINE_MAX } from '../../src/events/event.ts';
import { feedHead, findEvent, placeBefore, readFeed } from '../../src/events/feed-store.ts';
import { reviewBacklog } from '../../src/fiat-accounts/backlog-store.ts';
import { listFiatAccounts, listForReview } from '../../src/fiat-accounts/list-store.ts';
import { listAccounts, listIdentities } from '../../src/identity/store.ts';
import type { Backlog } from '../../src/kernel/capability.ts';
import type { Page } from '../../src/kernel/paging.ts';
import { balancesAt, balancesOf } from '../../src/ledger/balances.ts';
import { resourcesByRefId } from '../../src/ledger/keys.ts';
import { LIMITS } from '../../src/limits.ts';
import { listProfiles } from '../../src/profiles/store.ts';
import { settlementBacklog } from '../../src/settlement/backlog-store.ts';
import { listSettlements, type SettlementFilters } from '../../src/settlement/list-store.ts';
import { findSettlement } from '../../src/settlement/store.ts';
import { batchesOfTransfers, transfersById } from '../../src/transfers/store.ts';
import { webhookBacklogs } from '../../src/webhooks/backlog-store.ts';
import { listDeliveries } from '../../src/webhooks/delivery-store.ts';
import { listEndpoints } from '../../src/webhooks/store.ts';
import { withdrawalBacklogs } from '../../src/withdrawals/backlog-store.ts';
import { listContradictions } from '../../src/withdrawals/payout-store.ts';
import { claimDue } from '../../src/withdrawals/store.ts';
import { createTestDatabase, describeOnOneServer, type TestDatabase } from '../support/database.ts';
import {
  BIG,
  COMMON,
  historyEventId,
  historyId,
  loadHistory,
  OTHERS,
  RARE,
  START_NS,
  STEP_NS,
} from '../support/history.ts';
import { createPlanCheck, type Look, PAGE_LIMIT, pagesOf, SHOWN } from '../support/plans.ts';
import { rounds } from '../support/rounds.ts';
import { testVault } from '../support/vault.ts';

const ROWS = rounds(8_000, 20_000);

let test: TestDatabase;
let plans: Awaited<ReturnType<typeof createPlanCheck>>;
beforeAll(async () => {
  test = await createTestDatabase();
  await loadHistory(test.database, { others: ROWS });
  plans = await createPlanCheck(test.database);
});
afterAll(async () => {
  plans.stop();
  await test.drop();
});

/** Every backlog of the service. */
const backlogsOf = (database: Queryable): Backlog[] => [
  ...withdrawalBacklogs(database, ['wire'], async (id) => (await transfersById(database, [id])).get(id)),
  suspenseBacklog(database),
  reviewBacklog(database),
  settlementBacklog(database),
  feedBacklog(database),
  ...webhookBacklogs(database),
];

type List = (database: Queryable, page: Page) => Promise<unknown>;

async function expectShort(list: List, columns: readonly Page['orderBy'][]): Promise<void> {
  for (const page of pagesOf(columns, ROWS)) {
    expect(await plans.faultsIn((database) => list(database, page), SHOWN)).toEqual([]);
  }
}

const BOTH = ['created_at', 'updated_at'] as const;
type Kind = Parameters<typeof historyId>[0];
const common = (kind: Kind): string[] => [historyId(kind, COMMON)];
const rare = (kind: Kind): string[] => [historyId(kind, RARE)];

describeOnOneServer('a page of settlement transactions reads little more than it shows', () => {
  const cases: [string, SettlementFilters][] = [
    ['without a filter', {}],
    ['by id', { ids: [historyId('settlement', 1), historyId('settlement', 2)] }],
    ['by ref_id', { ref_ids: ['ref-2', 'ref-none'] }],
    ['that are settled', { statuses: ['SETTLED'] }],
    ['that are cancelled', { statuses: ['CANCELLED'] }],
    ['that are open', { statuses: ['PENDING', 'AFFIRMED'] }],
  ];
  it.each(cases)('%s', async (_title, filters) => {
    await expectShort((database, page) => listSettlements(database, BIG, filters, page), BOTH);
  });

  it.each([
    ['most of them', COMMON, 20 * SHOWN.rows],
    ['few', RARE, 1.2 * LIMITS.listScanMax],
    ['few, and of another customer', OTHERS * 2 + 1, 1.2 * LIMITS.listScanMax],
  ])('of a profile with %s, which scans a bounded number of rows', async (_title, profile, rows) => {
    const filters = { profile_ids: [historyId('profile', profile)] };
    for (const page of pagesOf(BOTH, ROWS)) {
      const look: Look = (database) => listSettlements(database, BIG, filters, page);
      expect(await plans.faultsIn(look, { rows, blocks: 2 * rows })).toEqual([]);
    }
  });
});

describeOnOneServer('a page of any other list reads little more than it shows', () => {
  const identities =
    (filters: object): List =>
    (database, page) =>
      listIdentities(database, BIG, filters, page);
  const accounts =
    (filters: object): List =>
    (database, page) =>
      listAccounts(database, BIG, filters, page);
  const fiat =
    (filters: object): List =>
    (database, page) =>
      listFiatAccounts(database, BIG, filters, page);
  const review =
    (filters: object): List =>
    (database, page) =>
      listForReview(database, { statuses: ['PENDING'], ...filters }, page);
  const byBothTimes: [string, List][] = [
    ['identities', identities({})],
    ['identities by ref_id', identities({ ref_ids: ['ref-1'] })],
    ['accounts', accounts({})],
    ['accounts of an identity with many', accounts({ identity_ids: common('identity') })],
    ['accounts of an identity with few', accounts({ identity_ids: rare('identity') })],
    ['fiat accounts', fiat({})],
    ['fiat accounts that are pending', fiat({ statuses: ['PENDING'] })],
    ['fiat accounts of an account with few', fiat({ account_ids: rare('account') })],
    ['fiat accounts of an identity with few', fiat({ identity_ids: rare('identity') })],
    ['fiat accounts to be reviewed', review({})],
    ['fiat accounts of a customer to be reviewed', review({ customer_ids: [BIG] })],
  ];
  it.each(byBothTimes)('%s', (_title, list) => expectShort(list, BOTH));

  const profiles =
    (filters: object): List =>
    (database, page) =>
      listProfiles(database, BIG, filters, page);
  const addresses =
    (filters: object): List =>
    (database, page) =>
      listAddresses(database, BIG, filters, page);
  const deliveries =
    (filters: object): List =>
    (database, page) =>
      listDeliveries(database, { id: historyId('endpoint', COMMON), customerId: BIG }, filters, page);
  const byCreation: [string, List][] = [
    ['profiles', profiles({})],
    ['profiles by nickname', profiles({ nicknames: ['name-1', 'name-none'] })],
    ['profiles of an account with few', profiles({ account_ids: rare('account') })],
    ['deposit addresses', addresses({})],
    ['deposit addresses on a network with few', addresses({ crypto_networks: ['SOLANA'] })],
    ['deposit addresses of a profile with few', addresses({ profile_ids: rare('profile') })],
    [
      'deposit instructions of a profile with few',
      (database, page) => listInstructions(database, BIG, { profile_ids: rare('profile') }, page),
    ],
    ['deposits in suspense', (database, page) => listSuspense(database, {}, page)],
    ['contradictions of rails', listContradictions],
    ['webhook endpoints', (database, page) => listEndpoints(database, BIG, {}, page)],
    ['deliveries', deliveries({})],
    ['deliveries that failed', deliveries({ statuses: ['FAILED'] })],
    ['deliveries of an event', deliveries({ event_ids: [historyEventId(2, 2)] })],
  ];
  it.each(byCreation)('%s', (_title, list) => expectShort(list, ['created_at']));
});

describeOnOneServer('other reads look up what they need', () => {
  const bounds = { limit: PAGE_LIMIT, scanMax: 2_000 };
  const profile = historyId('profile', COMMON);
  const middle = START_NS + BigInt(ROWS / 2) * STEP_NS;
  const feed =
    (filter: object, position = 0n): Look =>
    (database) =>
      readFeed(database, BIG, filter, position === 0n ? FEED_START : { position, line: LINE_MAX }, bounds);
  const limits = [
    { rail: 'wire', free: 16 },
    { rail: 'BITCOIN', free: 16 },
  ];
  const looks: [string, Look][] = [
    ['a settlement transaction', (database) => findSettlement(database, BIG, historyId('settlement', 2))],
    ['an event', (database) => findEvent(database, BIG, historyEventId(1, 1))],
    ['balances now', (database) => balancesOf(database, profile)],
    ['balances at a time', (database) => balancesAt(database, profile, middle)],
    ['balances before all times', (database) => balancesAt(database, profile, START_NS)],
    ['ref_ids', (database) => resourcesByRefId(database, BIG, 'identities', ['ref-1', 'ref-none'])],
    ['the head of the feed', feedHead],
    ['the place of a time in the feed', (database) => placeBefore(database, middle)],
    ['the feed from its start', feed({})],
    ['the feed from somewhere', feed({}, BigInt(ROWS / 20))],
    ['events of resources', feed({ resourceIds: [historyId('transfer', 11)] })],
    [
      'batches of transfers',
      (database) => batchesOfTransfers({ ...database, customerId: BIG }, [historyId('transfer', 11)]),
    ],
    ['transfers by id', (database) => transfersById(database, [historyId('transfer', 11)])],
    ['events by id', feed({ ids: [historyEventId(1, 1)] })],
    ['withdrawals that are due', (database) => claimDue(database, limits, 0n, 1_000_000n)],
  ];
  it.each(looks)('%s', async (_title, look) => {
    expect(await plans.faultsIn(look, SHOWN)).toEqual([]);
  });

  it.each(
    backlogsOf({ query: () => Promise.reject(new Error('not read here')), vault: () => testVault }).map(
      (backlog, index) => [Object.keys(backlog.gauges)[0]!, index] as const,
    ),
  )('%s: counted up to a bound', async (_title, index) => {
    const counted = { rows: 2.5 * LIMITS.backlogCountMax, blocks: LIMITS.backlogCountMax };
    const read = (database: Queryable) => backlogsOf(database)[index]!.read();
    expect(await plans.faultsIn(read, counted)).toEqual([]);
  });

  it('events of a rare type: a page scans a bounded number of events', async () => {
    const scanned = { rows: 2 * bounds.scanMax, blocks: 4 * bounds.scanMax };
    expect(await plans.faultsIn(feed({ types: ['transfer.failed'] }), scanned)).toEqual([]);
  });
});
