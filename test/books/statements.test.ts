import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { formatInstant, type Instant, parseInstant } from '../../src/kernel/instant.ts';
import { ENTRY_CHECKS } from '../../src/ledger/audit-checks.ts';
import type { Posting } from '../../src/ledger/command.ts';
import type { WritePath } from '../../src/ledger/write-path.ts';
import { statementOf, untilBookedIsFinal } from '../support/books.ts';
import { type Books, createBooks } from '../support/journal.ts';
import { available, createTestWritePath, held, move, OUTSIDE, optimistic, pay } from '../support/ledger.ts';
import { rounds } from '../support/rounds.ts';
import {
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let books: Books;
let customer: TestCustomer;
let path: WritePath;
beforeAll(async () => {
  service = await startTestService();
  books = await createBooks(service);
  customer = await service.createCustomer();
  path = createTestWritePath(service.database);
});
afterAll(async () => {
  await path.stop();
  await service.stop(ENTRY_CHECKS);
});

const usd = (from: Posting['from'], to: Posting['to'], units: bigint): Posting => ({
  asset: 'USD',
  from,
  to,
  units,
});
const ok = async (...args: Parameters<typeof statementOf>): Promise<any> => {
  const { status, body } = await statementOf(...args);
  expect({ status, body }).toEqual({ status: 200, body: expect.anything() });
  return body;
};

describe('a statement', () => {
  it('has the opening balance, every change of what the profile owns, and the closing balance', async () => {
    const profile = await service.createProfile(customer);
    const opening = await books.fund(profile, '500');
    await path.submit(move([usd(available(profile), held(profile), 10_200n)]));
    const paid = await path.submit(
      move([
        usd(held(profile), { account: 'clearing:wire' }, 10_000n),
        usd(held(profile), { account: 'fees' }, 200n),
      ]),
    );
    await path.submit(move([usd(available(profile), held(profile), 5_000n)]));
    const final = await untilBookedIsFinal(service.database);
    const body = await ok(customer, profile, { from: 0n, to: final });
    expect(body).toEqual({
      profile_id: profile,
      asset: 'USD',
      from: '1970-01-01T00:00:00Z',
      to: formatInstant(final),
      opening: { total: '0', available: '0', held: '0' },
      closing: { total: '398', available: '348', held: '50' },
      movements: [
        {
          at: opening.created_at,
          direction: 'CREDIT',
          amount: '500',
          balance_after: '500',
          cause: { type: 'JOURNAL_ENTRY', id: opening.id, kind: 'OPENING_BALANCE' },
        },
        {
          at: expect.any(String),
          direction: 'DEBIT',
          amount: '102',
          balance_after: '398',
          cause: { type: 'UNKNOWN', id: (paid as { answer: string }).answer },
        },
      ],
    });
    const later = await ok(customer, profile, { from: final });
    expect({ opening: later.opening, closing: later.closing, movements: later.movements }).toEqual({
      opening: body.closing,
      closing: body.closing,
      movements: [],
    });
    // The hold has no pending withdrawal, which the audit would report.
    await path.submit(move([usd(held(profile), available(profile), 5_000n)]));
  });

  it('of an asset that the profile never had is empty', async () => {
    const profile = await service.createProfile(customer);
    const body = await ok(customer, profile, { asset: 'ETH', from: 0n });
    expect(body).toMatchObject({ opening: { total: '0' }, closing: { total: '0' }, movements: [] });
  });

  it('names what is wrong with its period', async () => {
    const profile = await service.createProfile(customer);
    const now = parseInstant(new Date().toISOString())!;
    expectInvalid(await statementOf(customer, profile, { from: 0n, to: now + 10n ** 12n }), '/query/to');
    expectInvalid(await statementOf(customer, profile, { from: 10n, to: 10n }), '/query/from');
    expectInvalid(await statementOf(customer, profile, { from: 0n, to: 1n, asset: 'XYZ' }), '/query/asset');
    const bare = `/v2/profiles/${profile}/statements`;
    expectInvalid(await customer.call('GET', bare), '/query/asset', '/query/from');
    expectInvalid(await customer.call('GET', `${bare}?asset=USD&from=yesterday`), '/query/from');
  });

  it('is only for the owner of the profile', async () => {
    const profile = await service.createProfile(customer);
    const other = await service.createCustomer();
    expectProblem(await statementOf(other, profile, { from: 0n, to: 1n }), 404, 'not-found');
    const poor = await service.createCustomer({ scopes: ['transfer:read_transfer'] });
    expectProblem(await statementOf(poor, profile, { from: 0n, to: 1n }), 403, 'insufficient-scope');
  });
});

/** Random postings, several in one command, with holds, rings, and several causes at one instant. */
async function randomHistory(profiles: readonly string[], commands: number): Promise<void> {
  const [random] = fc.sample(fc.infiniteStream(fc.nat(999)), 1);
  const next = (): number => random!.next().value!;
  for (const profile of profiles) await path.submit(move([usd(OUTSIDE, available(profile), 100_000n)]));
  const some = (): string => profiles[next() % profiles.length]!;
  for (let count = 0; count < commands; count += 1) {
    const [one, other] = [some(), some()];
    const kinds: (() => Posting[])[] = [
      () => (one === other ? [] : [usd(available(one), available(other), 1n + BigInt(next()))]),
      () => [usd(available(one), held(one), 7n), usd(held(one), available(one), 7n)],
      () => [usd(available(one), { account: 'fees' }, 1n + BigInt(next() % 9))],
      () => [usd(OUTSIDE, available(one), 1n + BigInt(next()))],
      () =>
        one === other
          ? []
          : [
              usd(available(one), available(other), 20n),
              { ...usd(available(other), available(one), 15n), causeId: newId() },
              { ...usd(OUTSIDE, available(one), 3n), causeId: newId() },
            ],
    ];
    const postings = kinds[next() % kinds.length]!();
    if (postings.length > 0) await path.submit(move(postings));
  }
}

describe('statements of consecutive periods', () => {
  it('join without a gap, wherever the periods are cut', async () => {
    const profiles = await Promise.all([1, 2, 3].map(() => service.createProfile(customer)));
    await randomHistory(profiles, 120);
    const final = await untilBookedIsFinal(service.database);
    const instants = (
      await service.database.query<{ at_ns: Instant }>(
        'select distinct at_ns from entries where owner_id = any ($1::uuid[]) order by 1',
        [`{${profiles.join(',')}}`],
      )
    ).map(({ at_ns }) => at_ns);
    const cut = fc
      .tuple(fc.nat(instants.length - 1), fc.constantFrom(-1n, 0n, 1n))
      .map(([index, shift]) => instants[index]! + shift);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...profiles),
        fc.uniqueArray(cut, { minLength: 1, maxLength: 6 }),
        async (profile, cuts) => {
          const whole = await ok(customer, profile, { from: 0n, to: final });
          const ends = [...cuts, final].sort((a, b) => (a < b ? -1 : 1));
          const parts = [];
          for (const [index, to] of ends.entries())
            parts.push(await ok(customer, profile, { from: ends[index - 1] ?? 0n, to }));
          expect(parts[0].opening.total).toBe('0');
          for (const [index, { opening }] of parts.entries())
            if (index > 0) expect(opening).toEqual(parts[index - 1].closing);
          expect(parts.at(-1).closing).toEqual(whole.closing);
          expect(parts.flatMap(({ movements }) => movements)).toEqual(whole.movements);
          for (const { movements } of parts)
            for (const { balance_after: after } of movements) expect(after).not.toMatch(/^-/);
        },
      ),
      { numRuns: rounds(15, 150) },
    );
    const balance = await customer.call('GET', `/v2/profiles/${profiles[0]!}/balances/USD`);
    const first = await ok(customer, profiles[0]!, { from: 0n, to: final });
    expect(first.closing.available).toBe(balance.body.available);
  });

  it('never change once they were read, while transfers go on in both lanes', async () => {
    const [ada, bob] = [await service.createProfile(customer), await service.createProfile(customer)];
    await path.submit(move([usd(OUTSIDE, available(ada), 1_000_000n)]));
    await untilBookedIsFinal(service.database);
    const done = new AbortController();
    let moved = 0;
    const writer = async (wrap: typeof optimistic): Promise<void> => {
      while (!done.signal.aborted) {
        await path.submit(wrap(pay(ada, bob, 'USD', 1n)));
        moved += 1;
      }
    };
    const writers = [optimistic, optimistic, (one: Parameters<typeof optimistic>[0]) => one].map(writer);
    const read: { from: Instant; to: Instant; body: any }[] = [];
    let from = 0n;
    const isEnough = (): boolean => read.filter(({ body }) => body.movements.length > 0).length >= 8;
    while (!isEnough()) {
      const body = await ok(customer, ada, { from });
      const to = parseInstant(body.to)!;
      read.push({ from, to, body });
      from = to;
    }
    done.abort();
    await Promise.all(writers);
    expect(moved).toBeGreaterThan(50);
    for (const { body, ...period } of read) expect(await ok(customer, ada, period)).toEqual(body);
    const final = await untilBookedIsFinal(service.database);
    const whole = await ok(customer, ada, { from: 0n, to: final });
    const rest = await ok(customer, ada, { from, to: final });
    expect([...read.flatMap(({ body }) => body.movements), ...rest.movements]).toEqual(whole.movements);
  });
});
