import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { INSTANT_MAX } from '../../src/kernel/instant.ts';
import { Problem } from '../../src/kernel/problem.ts';
import { trialBalance } from '../../src/ledger/trial-balance.ts';
import { insideTransferCommand } from '../../src/transfers/platform.ts';
import { byBank, createWays } from '../support/deposits.ts';
import { EVIDENCE } from '../support/journal.ts';
import { createWorld, type Node, type World } from '../support/payouts.ts';
import { rounds } from '../support/rounds.ts';

/** Random sequences of what customers, rails and operators do. After every step the books must add up. */
let world: World;
let node: Node;
beforeAll(async () => {
  world = await createWorld();
  node = world.createNode();
});
afterAll(() => world.drop());

type Step = {
  readonly what: keyof typeof ACTIONS;
  readonly a: number;
  readonly b: number;
  readonly cents: number;
};

/** What a run has made so far, for later steps to refer to. */
type State = {
  readonly profiles: string[];
  readonly memos: string[];
  readonly transfers: string[];
  readonly withdrawals: string[];
  readonly entries: string[];
  readonly suspense: string[];
  readonly references: string[];
  readonly account: string;
};

const pick = (items: readonly string[], index: number): string => items[index % items.length] ?? newId();
const text = (cents: number): string => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;

async function book(state: State, kind: string, fields: object): Promise<void> {
  const body = { kind, ref_id: newId(), ...EVIDENCE, ...fields };
  const entry = await node.operate('bookJournalEntry', { body });
  state.entries.push(entry.id);
  if (entry.transfer_id) state.transfers.push(entry.transfer_id);
  if (entry.suspense_deposit_id) state.suspense.push(entry.suspense_deposit_id);
}

const money = (state: State, { b, cents }: Step) => ({
  asset: 'USD',
  amount: text(cents),
  rail: 'wire',
  account: 'own',
  reference: pick(state.references, b),
});

function target(state: State, { a, b }: Step) {
  const isEntry = a % 3 === 0;
  const id = pick(isEntry ? state.entries : [...state.transfers, ...state.withdrawals], b);
  return { corrects: { type: isEntry ? 'JOURNAL_ENTRY' : 'TRANSFER', id } };
}

const ACTIONS = {
  opening: (state: State, step: Step) =>
    book(state, 'OPENING_BALANCE', { ...money(state, step), profile_id: pick(state.profiles, step.a) }),
  manual: (state: State, step: Step) =>
    book(state, 'MANUAL_DEPOSIT', { ...money(state, step), profile_id: pick(state.profiles, step.a) }),
  funding: (state: State, step: Step) => book(state, 'TREASURY_FUNDING', money(state, step)),
  async arrival(state: State, { a, b, cents }: Step) {
    const memoId = a % 4 === 0 ? 'NOBODYS' : pick(state.memos, a);
    const deposit = byBank(memoId, {
      account: 'own',
      reference: pick(state.references, b),
      amountUnits: BigInt(cents),
    });
    const { body } = await node.arrivals.arrive(deposit);
    if (body.transfer) state.transfers.push(String(body.transfer.id));
    if (body.suspense_deposit) state.suspense.push(body.suspense_deposit.id);
  },
  async transfer(state: State, { a, b, cents }: Step) {
    const request = {
      from_profile_id: pick(state.profiles, a),
      to_profile_id: pick(state.profiles, b),
      asset: 'USD',
      amount: text(cents),
    };
    const outcome = await node.writePath.submit(
      insideTransferCommand('PLATFORM', world.caller, request, world.creation),
    );
    if (!outcome.replayed) state.transfers.push(JSON.parse(outcome.answer).id);
  },
  async withdraw(state: State, { a, b, cents }: Step) {
    const memo = pick(['paid', 'sandbox:fail', 'sandbox:timeout', 'sandbox:lost', 'sandbox:returned'], b);
    const fields = { amount: text(cents), memo };
    const { id } = await world.withdrawFiat(pick(state.profiles, a), state.account, fields);
    state.withdrawals.push(id);
  },
  async work(_state: State, { a }: Step) {
    world.advance((a % 60) * 60_000);
    await node.worker.runDue();
    await node.notices.runDue();
  },
  resolve: (state: State, { a, b }: Step) =>
    node.operate('resolveWithdrawal', {
      params: { id: pick(state.withdrawals, a) },
      body: { outcome: b % 2 === 0 ? 'PAID' : 'NOT_PAID', ref_id: newId(), ...EVIDENCE },
    }),
  cancel: (state: State, { a }: Step) =>
    node.operate('cancelWithdrawal', {
      params: { id: pick(state.withdrawals, a) },
      body: { ref_id: newId(), ...EVIDENCE },
    }),
  returned(state: State, step: Step) {
    const { rail: _, ...fields } = money(state, step);
    return book(state, 'WITHDRAWAL_RETURN', { ...fields, transfer_id: pick(state.withdrawals, step.a) });
  },
  sweep: (state: State, { a, cents }: Step) =>
    book(state, 'SWEEP', { source: 'fees', asset: 'USD', ...(a % 2 === 0 && { amount: text(cents) }) }),
  payout: (state: State, { cents }: Step) =>
    book(state, 'TREASURY_PAYOUT', { asset: 'USD', amount: text(cents), rail: 'wire' }),
  writeOff: (state: State, { a, b, cents }: Step) =>
    book(state, 'WRITE_OFF', {
      asset: 'USD',
      amount: text(cents),
      ...(b % 2 === 0 ? { rail: 'wire' } : { profile_id: pick(state.profiles, a) }),
    }),
  credit: (state: State, { a, b }: Step) =>
    book(state, 'SUSPENSE_CREDIT', {
      suspense_deposit_id: pick(state.suspense, a),
      profile_id: pick(state.profiles, b),
    }),
  sendBack: (state: State, { a }: Step) =>
    book(state, 'SUSPENSE_RETURN', { suspense_deposit_id: pick(state.suspense, a) }),
  correct(state: State, step: Step) {
    const sides = [
      { profile_id: pick(state.profiles, step.a) },
      step.b % 2 === 0 ? { account: 'clearing:wire' } : { profile_id: pick(state.profiles, step.b) },
    ];
    const [from, to] = step.cents % 2 === 0 ? sides : sides.reverse();
    return book(state, 'CORRECTION', {
      ...target(state, step),
      asset: 'USD',
      amount: text(step.cents),
      from,
      to,
    });
  },
  reverse: (state: State, step: Step) => book(state, 'REVERSAL', target(state, step)),
  async disable(state: State, { a, b }: Step) {
    await world.database.query('update profiles set status = $2 where id = $1', [
      pick(state.profiles, a),
      b % 2 === 0 ? 'DISABLED' : 'ACTIVE',
    ]);
  },
};

/** Everything that must be empty: each row is a fault, and says which rule it breaks. A cluster joins its tables only once they are collected. */
const FAULTS = `
  with entries as materialized (select * from entries), balances as materialized (select * from balances),
       transfers as materialized (select * from transfers)
  select 'value is not conserved' as rule, asset as what from entries group by asset having sum(delta) <> 0
  union all
  select 'a balance differs from its entries', b.profile_id::text from balances b
  where b.available <> (select coalesce(sum(delta), 0) from entries e
                        where e.owner_id = b.profile_id and e.asset = b.asset and e.account = 'available')
     or b.held <> (select coalesce(sum(delta), 0) from entries e
                   where e.owner_id = b.profile_id and e.asset = b.asset and e.account = 'held')
  union all
  select 'a balance is negative', profile_id::text from balances where available < 0 or held < 0
  union all
  select 'an account of the service is negative', account from entries
  where account in ('treasury', 'suspense') group by account, asset having sum(delta) < 0
  union all
  select 'suspense differs from the deposits in it', 'suspense'
  where (select coalesce(sum(delta), 0) from entries where account = 'suspense')
     <> (select coalesce(sum(amount_units), 0) from suspense_deposits
         where booked and transfer_id is null and returned_by is null)
  union all
  select 'entries differ from the postings of the journal', coalesce(p.id, e.id)::text
  from (select journal_entry_id as id, sum(units) as units, count(*) as postings from journal_postings group by 1) p
  full join (select cause_id as id, sum(delta) as units, count(*) as postings from entries
             where delta > 0 and cause_id in (select id from journal_entries) group by 1) e on e.id = p.id
  where p.units is distinct from e.units or p.postings is distinct from e.postings
  union all
  select 'an entry has no cause, or several', cause_id::text from (select distinct cause_id from entries) c
  where (select count(*) from transfers t where t.id = c.cause_id)
      + (select count(distinct t.group_id) from transfers t where t.group_id = c.cause_id)
      + (select count(*) from suspense_deposits s where s.id = c.cause_id)
      + (select count(*) from journal_entries j where j.id = c.cause_id) <> 1
  union all
  select 'more came back than was paid', transfer_id::text from withdrawal_returns w
  where returned_units <> (select coalesce(sum(j.amount_units), 0) from journal_entries j
                           where j.kind = 'WITHDRAWAL_RETURN' and j.corrects_id = w.transfer_id
                             and not exists (select from journal_entries r where r.kind = 'REVERSAL' and r.corrects_cause_id = j.id))`;

async function newState(): Promise<State> {
  const profiles = await Promise.all([1, 2, 3].map(() => world.createProfile()));
  const ways = createWays(world, () => node);
  const memos: string[] = [];
  for (const profile of profiles) memos.push(await ways.memoOf(profile, 'WIRE'));
  return {
    profiles,
    memos,
    transfers: [],
    withdrawals: [],
    entries: [],
    suspense: [],
    references: Array.from({ length: 12 }, newId),
    account: await world.createAccount('wire'),
  };
}

/** Something for every kind of step to work with. */
async function prepare(state: State): Promise<void> {
  const start = { asset: 'USD', amount: '300', rail: 'wire', account: 'start' };
  for (const profileId of state.profiles)
    await book(state, 'OPENING_BALANCE', { ...start, reference: newId(), profile_id: profileId });
  await book(state, 'TREASURY_FUNDING', { ...start, reference: newId() });
  const withdraw = async (memo: string): Promise<void> => {
    const { id } = await world.withdrawFiat(state.profiles[0]!, state.account, { amount: '30', memo });
    state.withdrawals.push(id);
  };
  await withdraw('paid');
  await withdraw('paid');
  await world.settle(node);
  await withdraw('sandbox:timeout');
  await node.worker.runDue();
  await withdraw('paid');
  for (const reference of [newId(), newId()])
    await ACTIONS.arrival({ ...state, references: [reference] }, { what: 'arrival', a: 0, b: 0, cents: 100 });
}

const STEP = fc.record({
  what: fc.constantFrom(...(Object.keys(ACTIONS) as (keyof typeof ACTIONS)[])),
  a: fc.nat(1_000),
  b: fc.nat(1_000),
  cents: fc.integer({ min: 1, max: 3_000 }),
});

/** Assets whose accounts do not sum to zero in the trial balance of this moment: nothing is in flight. */
async function unbalancedAssets(): Promise<string[]> {
  const totals = await trialBalance(world.database, INSTANT_MAX, INSTANT_MAX);
  const byAsset = Map.groupBy(totals, ({ asset }) => asset);
  expect(byAsset.size).toBeGreaterThan(0);
  return [...byAsset]
    .filter(([, accounts]) => accounts.reduce((sum, { units }) => sum + units, 0n) !== 0n)
    .map(([asset]) => asset);
}

it('the books add up after every step, whatever is booked, corrected, reversed, paid and returned', async () => {
  const done = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 60, maxLength: 80 }), async (steps) => {
      const state = await newState();
      await prepare(state);
      for (const step of steps) {
        try {
          await ACTIONS[step.what](state, step);
          done.set(step.what, (done.get(step.what) ?? 0) + 1);
        } catch (error) {
          // A refusal changes nothing; anything else is a bug.
          if (!(error instanceof Problem)) throw error;
        }
        expect({ step, faults: await world.database.query(FAULTS) }).toEqual({ step, faults: [] });
        expect({ step, unbalanced: await unbalancedAssets() }).toEqual({ step, unbalanced: [] });
      }
    }),
    { numRuns: rounds(4, 12), endOnFailure: true, ...(rounds(0, 1) === 0 && { seed: 20_261_116 }) },
  );
  expect(node.errors).toEqual([]);
  // Every kind of step has succeeded at least once, or the test would prove little.
  expect(Object.keys(ACTIONS).filter((what) => !done.has(what))).toEqual([]);
  await world.expectSound();
});
