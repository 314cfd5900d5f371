import { describe, expect, it } from 'vitest';
import { newId } from '../kernel/id.ts';
import { parseInstant } from '../kernel/instant.ts';
import type { Problem } from '../kernel/problem.ts';
import type { ProfileFacts } from '../kernel/profile-facts.ts';
import {
  callerFault,
  type Move,
  moved,
  moveFault,
  partiesFault,
  statusAt,
  windowFault,
  windowOf,
} from './rules.ts';
import { SETTLEMENT_STATUSES, type Settlement } from './transaction.ts';

const now = parseInstant('2026-03-01T12:00:00.123456789Z')!;
const SECOND = 1_000_000_000n;
const DAY = 86_400n * SECOND;

const settlement: Settlement = {
  id: newId(),
  customerId: newId(),
  targetCustomerId: newId(),
  refId: 'one',
  sourceProfileId: newId(),
  targetProfileId: newId(),
  windowStartNs: now,
  windowEndNs: now + DAY,
  status: 'PENDING',
  secondaryStatus: null,
  legs: [{ id: newId(), direction: 'DELIVER', asset: 'USD', units: 1n }],
  createdAtNs: now - SECOND,
  updatedAtNs: now - SECOND,
};

function pointerOf(problem: Problem | undefined): string | undefined {
  return (problem?.meta.errors as { pointer: string }[] | undefined)?.[0]?.pointer;
}

describe('the window', () => {
  it('starts now and ends a day later, unless the client says otherwise', () => {
    const neither = { startNs: undefined, endNs: undefined };
    expect(windowOf(neither, now)).toEqual({ startNs: now, endNs: now + DAY });
    expect(windowOf({ ...neither, startNs: now + 5n }, now)).toEqual({
      startNs: now + 5n,
      endNs: now + DAY + 5n,
    });
    expect(windowOf({ ...neither, endNs: now + 7n }, now)).toEqual({ startNs: now, endNs: now + 7n });
  });

  const START = '/settlement_window_start';
  const END = '/settlement_window_end';
  it.each<[string, bigint | undefined, bigint | undefined, string | undefined]>([
    ['neither is given', undefined, undefined, undefined],
    ['the end is one nanosecond away', undefined, 1n, undefined],
    ['the end is now', undefined, 0n, END],
    ['the end was a nanosecond ago', undefined, -1n, END],
    ['the end is exactly 90 days away', undefined, 90n * DAY, undefined],
    ['the end is 90 days and a nanosecond away', undefined, 90n * DAY + 1n, END],
    ['the end is 90 days and a second away', undefined, 90n * DAY + SECOND, END],
    ['the end is the start', 10n, 10n, END],
    ['the end is a nanosecond after the start', 10n, 11n, undefined],
    ['the start is long ago, the end is not', -1_000n * DAY, DAY, undefined],
    ['the start is a day ago, so that the end is now', -DAY, undefined, START],
    ['the start is nearly a day ago', -DAY + 1n, undefined, undefined],
    ['the start is 89 days away', 89n * DAY, undefined, undefined],
    ['the start is 89 days and a nanosecond away', 89n * DAY + 1n, undefined, START],
  ])('is checked against the clock: %s', (_title, start, end, pointer) => {
    const at = (offset: bigint | undefined) => (offset === undefined ? undefined : now + offset);
    expect(pointerOf(windowFault({ startNs: at(start), endNs: at(end) }, now))).toBe(pointer);
  });
});

describe('the state machine', () => {
  const allowed: Record<Move, string[]> = {
    affirm: ['PENDING'],
    cancel: ['PENDING'],
    settle: ['AFFIRMED'],
    expire: ['PENDING', 'AFFIRMED'],
  };
  const becomes = { affirm: 'AFFIRMED', cancel: 'CANCELLED', settle: 'SETTLED', expire: 'EXPIRED' } as const;
  const table = (Object.keys(allowed) as Move[]).flatMap((move) =>
    SETTLEMENT_STATUSES.map((status) => [move, status, allowed[move].includes(status)] as const),
  );

  it.each(table)('%s of a transaction that is %s is allowed: %s', (move, status, isAllowed) => {
    const at = move === 'expire' ? settlement.windowEndNs : now;
    const row = { ...settlement, status, secondaryStatus: { name: 'AWAITING_FUNDS', detail: 'all of it' } };
    const fault = moveFault(row, move, at);
    if (!isAllowed) {
      expect(fault).toMatchObject({ slug: 'invalid-state', meta: { status } });
      return;
    }
    expect(fault).toBeUndefined();
    expect(moved(row, move, at)).toEqual({
      ...row,
      status: becomes[move],
      secondaryStatus: null,
      updatedAtNs: at,
    });
  });

  it('allows the last nanosecond of the window, and not the one after it', () => {
    const end = settlement.windowEndNs;
    const affirmed = { ...settlement, status: 'AFFIRMED' } as const;
    const rows = { affirm: settlement, cancel: settlement, settle: affirmed };
    for (const move of ['affirm', 'cancel', 'settle'] as const) {
      expect(moveFault(rows[move], move, end - 1n)).toBeUndefined();
      expect(moveFault(rows[move], move, end)).toMatchObject({
        slug: 'invalid-state',
        meta: { status: 'EXPIRED' },
      });
    }
    expect(moveFault(settlement, 'expire', end)).toBeUndefined();
    expect(moveFault(settlement, 'expire', end - 1n)).toMatchObject({ slug: 'invalid-state' });
    expect(statusAt(affirmed, end - 1n)).toBe('AFFIRMED');
    expect(statusAt(affirmed, end)).toBe('EXPIRED');
    expect(statusAt({ ...settlement, status: 'SETTLED' }, end)).toBe('SETTLED');
  });

  it('does not settle before the window opens, but lets the target affirm', () => {
    const early = settlement.windowStartNs - 1n;
    const affirmed = { ...settlement, status: 'AFFIRMED' } as const;
    expect(moveFault(affirmed, 'settle', early)).toMatchObject({
      slug: 'invalid-state',
      meta: { status: 'AFFIRMED' },
    });
    expect(moveFault(affirmed, 'settle', early + 1n)).toBeUndefined();
    expect(moveFault(settlement, 'affirm', early)).toBeUndefined();
  });

  it('never lets the time of the last update go back', () => {
    const row = { ...settlement, updatedAtNs: now };
    expect(moved(row, 'affirm', now - 5n).updatedAtNs).toBe(now + 1n);
    expect(moved(row, 'affirm', now).updatedAtNs).toBe(now + 1n);
    expect(moved(row, 'affirm', now + 5n).updatedAtNs).toBe(now + 5n);
  });
});

describe('the parties', () => {
  it.each<['affirm' | 'cancel', 'source' | 'target' | 'neither' | 'both', string | undefined]>([
    ['affirm', 'source', 'forbidden'],
    ['affirm', 'target', undefined],
    ['affirm', 'neither', 'not-found'],
    ['affirm', 'both', undefined],
    ['cancel', 'source', undefined],
    ['cancel', 'target', 'forbidden'],
    ['cancel', 'neither', 'not-found'],
    ['cancel', 'both', undefined],
  ])('%s by %s gives %s', (move, who, slug) => {
    const row = who === 'both' ? { ...settlement, targetCustomerId: settlement.customerId } : settlement;
    const caller = who === 'target' ? row.targetCustomerId : who === 'neither' ? newId() : row.customerId;
    expect(callerFault(row, row.id, move, caller)?.slug).toBe(slug);
    expect(callerFault(undefined, row.id, move, caller)?.slug).toBe('not-found');
  });

  it('must exist, the source must belong to the caller, and both must be active', () => {
    const mine = { id: newId(), customerId: newId(), status: 'ACTIVE', acceptedProfileIds: null } as const;
    const other = { id: newId(), customerId: newId(), status: 'ACTIVE', acceptedProfileIds: null } as const;
    const fault = (source: typeof mine | undefined, target: typeof other | undefined) =>
      partiesFault(mine.customerId, { id: mine.id, profile: source }, { id: other.id, profile: target });
    expect(fault(mine, other)).toBeUndefined();
    expect(fault(undefined, other)).toMatchObject({ slug: 'not-found', meta: { id: mine.id } });
    expect(fault(mine, undefined)).toMatchObject({ slug: 'not-found', meta: { id: other.id } });
    expect(
      partiesFault(mine.customerId, { id: other.id, profile: other }, { id: mine.id, profile: mine }),
    ).toMatchObject({ slug: 'not-found', meta: { id: other.id } });
  });

  it('a target of another customer that is disabled, or does not accept the source, is answered like an unknown one', () => {
    const mine = { id: newId(), customerId: newId(), status: 'ACTIVE', acceptedProfileIds: null } as const;
    const other = { ...mine, id: newId(), customerId: newId() };
    const fault = (change: Partial<ProfileFacts> | undefined) =>
      partiesFault(
        mine.customerId,
        { id: mine.id, profile: mine },
        { id: other.id, profile: change && { ...other, ...change } },
      );
    const unknown = fault(undefined);
    expect(unknown).toMatchObject({ slug: 'not-found', meta: { id: other.id } });
    for (const change of [
      { status: 'DISABLED' },
      { acceptedProfileIds: [] },
      { acceptedProfileIds: [newId()] },
    ] as const)
      expect(fault(change)).toEqual(unknown);
    expect(fault({ acceptedProfileIds: [newId(), mine.id] })).toBeUndefined();
    // Own profiles are always accepted, and the owner learns that one is disabled.
    expect(fault({ customerId: mine.customerId, acceptedProfileIds: [] })).toBeUndefined();
    expect(fault({ customerId: mine.customerId, status: 'DISABLED' })).toMatchObject({ slug: 'forbidden' });
  });
});
