import { expect } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import type { Arrivals } from '../../src/deposits/arrivals.ts';
import { createDeposits } from '../../src/deposits/capability.ts';
import { createPriceTable, SANDBOX_PRICES } from '../../src/fees/prices.ts';
import { createFeeSchedule, type FeeTable } from '../../src/fees/schedule.ts';
import { kindOfFiatAccount } from '../../src/fiat-accounts/store.ts';
import { createJournal as createOperatorsJournal } from '../../src/journal/capability.ts';
import { newId } from '../../src/kernel/id.ts';
import { NS_PER_MS } from '../../src/kernel/instant.ts';
import type { Caller } from '../../src/kernel/route.ts';
import { ALL_CHECKS } from '../../src/ledger/audit.ts';
import type { Check } from '../../src/ledger/audit-checks.ts';
import type { WritePath } from '../../src/ledger/write-path.ts';
import type { CryptoNetwork } from '../../src/networks/crypto.ts';
import type { FiatKind } from '../../src/networks/fiat.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import type { Screen } from '../../src/policies/screening.ts';
import { policySetOf } from '../../src/policies/store.ts';
import { createRails, type NoticeSource, type Rail, type Rails } from '../../src/rails/rail.ts';
import type { JournalEntry } from '../../src/sandbox/journal.ts';
import { createJournal } from '../../src/sandbox/journal-store.ts';
import { createSimulatedRails } from '../../src/sandbox/simulated.ts';
import { settlementById } from '../../src/settlement/store.ts';
import { SHARED_TABLES } from '../../src/tables.ts';
import { createTransfers } from '../../src/transfers/capability.ts';
import type { Transfer } from '../../src/transfers/transfer.ts';
import { createWithdrawals, type Withdrawals } from '../../src/withdrawals/capability.ts';
import { cryptoWithdrawalCommand } from '../../src/withdrawals/crypto.ts';
import { fiatWithdrawalCommand } from '../../src/withdrawals/fiat.ts';
import type { NoticeWorker } from '../../src/withdrawals/notices.ts';
import type { Checkpoint } from '../../src/withdrawals/steps.ts';
import type { WithdrawalWorker } from '../../src/withdrawals/worker.ts';
import { createTestDatabase } from './database.ts';
import { eventsOf as writtenEvents } from './events.ts';
import { openingBalance } from './funding.ts';
import { assets, auditLines, createTestWritePath } from './ledger.ts';
import { deriveAddress, RAIL_NAMES } from './networks.ts';
import { PATIENCE_MS } from './until.ts';
import { connectUnlocked } from './vault.ts';
import { withoutApproval } from './without-approval.ts';

/** A killed process waits for this promise, so none of its code continues. */
export const never = new Promise<never>(() => undefined);

/** The service without HTTP, and a clock that a test can move. */
export type Node = {
  readonly writePath: WritePath;
  readonly worker: WithdrawalWorker;
  readonly notices: NoticeWorker;
  readonly arrivals: Arrivals;
  readonly withdrawals: Withdrawals;
  /** An operation of an operator, by its id, without HTTP. Answers with the body; a refusal is a Problem. */
  operate(operationId: string, request: { params?: object; body?: object; query?: object }): Promise<any>;
  readonly troubles: string[];
  readonly errors: unknown[];
};

export type NodeOptions = {
  readonly database?: Database;
  readonly wrapRail?: (rail: Rail) => Rail;
  readonly checkpoint?: (name: Checkpoint, transferId: string) => Promise<void>;
  /** Far longer than any call takes, unless the test is about the timeout. */
  readonly callTimeoutMs?: number;
  readonly leaseMs?: number;
  readonly fees?: FeeTable;
  /** Without one, every screening is held. */
  readonly screen?: Screen;
  /** In addition to those of the simulated rails. */
  readonly notices?: readonly NoticeSource[];
};

/**
 * A payment that the rail leaves without an answer is given up as soon as that is certain. Waiting for a timeout instead
 * would also give up answers that are late because the machine is busy. The timeout itself is tested in test/rails/contract.ts.
 */
function givingUpAtOnce(rail: Rail): Rail {
  const givenUp = AbortSignal.abort(new Error('no answer'));
  return { ...rail, submit: (payment) => rail.submit(payment, givenUp) };
}

export async function createWorld() {
  const test = await createTestDatabase();
  const { database } = test;
  let offsetNs = 0n;
  const now = () => BigInt(Date.now()) * NS_PER_MS + offsetNs;
  const journal = createJournal(database);
  const simulated: Rails = createSimulatedRails({ networks: NETWORKS, journal, now, speed: 1 });
  const caller: Caller = {
    customerId: newId(),
    clientId: 'test',
    scopes: new Set(),
    integration: 'FIRST_PARTY',
  };
  const common = {
    ...SHARED_TABLES,
    assets,
    networks: NETWORKS,
    prices: createPriceTable(SANDBOX_PRICES),
    policiesOf: (customerId: string) => policySetOf(database, customerId),
    screen: async () => ({ kind: 'held', reason: 'no hook' }) as const,
    schedule: createFeeSchedule(NETWORKS, assets),
    rentLamportsPerDayMax: 20_392_800n,
  };

  /** The capabilities for withdrawals and deposits, on one node. */
  function assembleNode(options: NodeOptions = {}) {
    const own = options.database ?? database;
    const writePath = createTestWritePath(own);
    const wrap = options.wrapRail ?? ((rail) => rail);
    const rails = createRails(
      simulated.list.map((rail) => wrap(givingUpAtOnce(rail))),
      [...simulated.notices, ...(options.notices ?? [])],
    );
    const troubles: string[] = [];
    const errors: unknown[] = [];
    const screen = options.screen ?? common.screen;
    const shared = { ...common, screen, database: own, writePath, rails };
    const transfers = createTransfers(shared);
    const deposits = createDeposits({
      ...shared,
      schedule: createFeeSchedule(NETWORKS, assets, options.fees),
      transferById: transfers.byId,
    });
    const withdrawals = createWithdrawals({
      declare: withoutApproval,
      ...shared,
      transfers,
      deposit: deposits.arrivals.arrive,
      returned: (notice) => operators.returned(notice),
      callsRails: true,
      log: {
        error: (_facts: object, what?: string) => void troubles.push(what!),
        warn: ({ err }: { err?: unknown }) => void errors.push(err),
      },
      timing: {
        callTimeoutMs: options.callTimeoutMs ?? PATIENCE_MS,
        ...(options.leaseMs !== undefined && { leaseMs: options.leaseMs }),
        offsetNs: () => offsetNs,
      },
      nowMs: () => Number(now() / NS_PER_MS),
      ...(options.checkpoint && { checkpoint: options.checkpoint }),
    });
    const operators = createOperatorsJournal({
      declare: withoutApproval,
      database: own,
      writePath,
      log: { error: (_facts: object, what?: string) => void troubles.push(what!) },
      deposits,
      withdrawals,
      transfers,
      settlement: { byId: (id) => settlementById(own, id) },
      fiatAccounts: { kindOf: (id) => kindOfFiatAccount(own, id) },
    });
    const operate: Node['operate'] = async (operationId, request) => {
      const route = operators.routes!.find((one) => one.operationId === operationId)!;
      return (await route.handle({ caller, ...request } as never)).body;
    };
    return { writePath, transfers, deposits, withdrawals, operate, troubles, errors };
  }

  const { writePath: creator, transfers, withdrawals } = assembleNode();
  const { creation, progress: tables } = withdrawals;

  function createNode(options: NodeOptions = {}): Node {
    const { writePath, deposits, withdrawals: own, operate, troubles, errors } = assembleNode(options);
    const { worker, notices } = own;
    return {
      writePath,
      worker,
      notices,
      arrivals: deposits.arrivals,
      withdrawals: own,
      operate,
      troubles,
      errors,
    };
  }

  async function createProfile(balances: Readonly<Record<string, string>> = {}): Promise<string> {
    const id = newId();
    await database.query(
      `insert into profiles (id, customer_id, nickname, type, created_at_ns) values ($1, $2, $3, 'NORMAL', 0)`,
      [id, caller.customerId, id],
    );
    for (const [asset, text] of Object.entries(balances)) {
      const parsed = assets.parse(asset, text);
      if (!parsed.ok) throw new Error(parsed.message);
      await creator.submit(openingBalance(id, asset, parsed.units));
    }
    return id;
  }

  async function createAccount(kind: FiatKind, status = 'APPROVED'): Promise<string> {
    const id = newId();
    await database.query(
      `insert into fiat_accounts (id, customer_id, status, kind, fiat_account_owner, fiat_network_instructions,
                                  created_at_ns, updated_at_ns) values ($1, $2, $3, $4, '{}', $5, 0, 0)`,
      [
        id,
        caller.customerId,
        status,
        kind,
        JSON.stringify({ [kind]: { account_number: '1', account_id: '1', wallet_address: '1' } }),
      ],
    );
    return id;
  }

  async function withdrawFiat(
    profileId: string,
    accountId: string,
    fields: { amount?: string; memo?: string } = {},
    through: WritePath = creator,
  ): Promise<Transfer> {
    const request = {
      asset: 'USD',
      amount: '100',
      ...fields,
      profile_id: profileId,
      fiat_account_id: accountId,
    };
    const outcome = await through.submit(
      fiatWithdrawalCommand(caller, request, await policySetOf(database, caller.customerId), creation),
    );
    if (outcome.replayed) throw new Error('replayed');
    return outcome.answer;
  }

  async function withdrawCrypto(
    profileId: string,
    fields: {
      asset: string;
      crypto_network: CryptoNetwork;
      amount?: string;
      memo?: string;
      balance_asset?: string;
      destination_address?: string;
      fee_id?: string;
      beneficiary?: { person_details: { first_name: string; last_name: string } };
    },
    through: WritePath = creator,
  ): Promise<Transfer> {
    const request = {
      amount: '1',
      destination_address: deriveAddress(fields.crypto_network, `payee of ${profileId}`),
      ...fields,
      profile_id: profileId,
    };
    const outcome = await through.submit(
      cryptoWithdrawalCommand(caller, request, await policySetOf(database, caller.customerId), creation),
    );
    if (outcome.replayed) throw new Error('replayed');
    return outcome.answer;
  }

  function advance(milliseconds: number): void {
    offsetNs += BigInt(Math.ceil(milliseconds * 1_000)) * 1_000n;
  }

  /** Advances the clock and runs the workers until nothing is left, or only what waits for a review. */
  async function settle(node: Node, roundsMax = 200): Promise<void> {
    for (let round = 0; round < roundsMax; round += 1) {
      const done = (await node.worker.runDue()) + (await node.notices.runDue());
      if (done > 0) continue;
      const [next] = await database.query<{ due: bigint | null }>(
        `select min(due) as due from (
           select due_at_ns as due from withdrawal_work where due_at_ns < 9000000000000000000
           union all select due_at_ns from sandbox_notices) as all_due`,
      );
      if (next!.due === null) return;
      const aheadNs = next!.due - now();
      // Work is due but none was done: the lane of its rail is closed for a moment.
      advance(aheadNs > 0n ? Number(aheadNs) / 1e6 + 2 : 1_000);
    }
    throw new Error('it does not settle');
  }

  async function paymentsOf(key: string): Promise<JournalEntry[]> {
    const found = await Promise.all(RAIL_NAMES.map((rail) => journal.find(rail, key)));
    return found.filter((entry) => entry !== undefined);
  }

  async function transferOf(id: string): Promise<Transfer> {
    return (await transfers.byId(id))!;
  }

  async function balanceOf(profileId: string, asset: string): Promise<{ available: string; held: string }> {
    const [row] = await database.query<{ available: bigint; held: bigint }>(
      'select available, held from balances where profile_id = $1 and asset = $2',
      [profileId, asset],
    );
    const { available, held } = row ?? { available: 0n, held: 0n };
    return { available: assets.format(asset, available), held: assets.format(asset, held) };
  }

  /** The changes of the service's own accounts by one transfer. */
  async function systemOf(id: string): Promise<Record<string, string>> {
    const rows = await database.query<{ account: string; asset: string; units: bigint }>(
      `select account, asset, sum(delta)::numeric as units from entries
       where cause_id = $1 and balance_after is null group by account, asset`,
      [id],
    );
    return Object.fromEntries(
      rows.map(({ account, asset, units }) => [`${account} ${asset}`, assets.format(asset, units)]),
    );
  }

  async function eventsOf(id: string): Promise<string[]> {
    return (await writtenEvents(database, id)).map((one) => one.type);
  }

  return {
    database,
    journal,
    simulated,
    caller,
    creation,
    tables,
    now,
    advance,
    createNode,
    connect: () => connectUnlocked(test.address, 6),
    createProfile,
    createAccount,
    withdrawFiat,
    withdrawCrypto,
    settle,
    paymentsOf,
    transferOf,
    balanceOf,
    systemOf,
    eventsOf,
    transfers,
    withdrawalWakes: SHARED_TABLES.withdrawalWakes,
    expectSound: async () => expect(await auditLines(database, ALL_CHECKS)).toEqual([]),
    /** The name of its database. */
    name: (test.address as { database: string }).database,
    /** Without the audit, so that its database can be copied. */
    async close() {
      await creator.stop();
      await database.close();
    },
    /** After `close`. */
    remove: test.remove,
    async drop(checks: readonly Check[] = ALL_CHECKS) {
      expect(await auditLines(database, checks)).toEqual([]);
      await creator.stop();
      await test.drop();
    },
  };
}

export type World = Awaited<ReturnType<typeof createWorld>>;
