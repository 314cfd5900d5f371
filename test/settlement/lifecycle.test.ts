import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type WrittenEvent, eventsOf as writtenEvents } from '../support/events.ts';
import {
  type Answer,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

/** Every state × every action × every party, over HTTP: the answer, the new state, and the events. */

const PATH = '/v2/settlement/transactions';
const STATES = ['PENDING', 'AFFIRMED', 'AFFIRMED without funds', 'SETTLED', 'CANCELLED', 'EXPIRED'] as const;
type State = (typeof STATES)[number];
const PARTIES = ['source', 'target', 'both', 'neither'] as const;
type Party = (typeof PARTIES)[number];

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let carol: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  [alice, bob, carol] = [
    await service.createCustomer(),
    await service.createCustomer(),
    await service.createCustomer(),
  ];
});
afterAll(() => service.stop());

type Made = { id: string; source: TestCustomer; target: TestCustomer };
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
const statusOf = (state: State): string => state.split(' ')[0]!;
const act = {
  affirm: (who: TestCustomer, id: string) => who.call('PUT', `${PATH}/${id}/affirm`),
  cancel: (who: TestCustomer, id: string) => who.call('DELETE', `${PATH}/${id}`),
  read: (who: TestCustomer, id: string) => who.call('GET', `${PATH}/${id}`),
};

async function endWindow(id: string): Promise<void> {
  await service.database.query(
    'update settlement_transactions set window_start_ns = 0, window_end_ns = created_at_ns where id = $1',
    [id],
  );
}

async function reach(made: Made, wanted: (body: any) => boolean): Promise<any> {
  let body: any;
  await until('the settlement has the state', async () => {
    ({ body } = await act.read(made.source, made.id));
    return wanted(body);
  });
  return body;
}

/** Created over HTTP. Only the window of a transaction that expires is moved, so that it cannot end too early. */
async function make(state: State, both: boolean): Promise<Made> {
  const [source, target] = [alice, both ? alice : bob];
  const funded = state === 'AFFIRMED without funds' ? {} : { USD: '10' };
  const profiles = {
    source_profile_id: await service.createProfile(source, funded),
    target_profile_id: await service.createProfile(target),
  };
  const windows: Partial<Record<State, object>> = {
    AFFIRMED: { settlement_window_start: inMs(3_600_000) },
  };
  const answer = await source.call('POST', PATH, {
    ...profiles,
    legs: [{ direction: 'DELIVER', asset: 'USD', amount: '10' }],
    ...windows[state],
  });
  expect(answer.status).toBe(200);
  const made = { id: answer.body.id, source, target };
  if (state === 'EXPIRED') await endWindow(made.id);
  if (state === 'CANCELLED') await act.cancel(source, made.id);
  else if (state !== 'PENDING' && state !== 'EXPIRED') {
    expect((await act.affirm(target, made.id)).body.status).toBe('AFFIRMED');
  }
  await reach(
    made,
    (body) =>
      body.status === statusOf(state) &&
      (state !== 'AFFIRMED without funds' || body.secondary_status.name === 'AWAITING_FUNDS'),
  );
  return made;
}

const eventsOf = (id: string): Promise<WrittenEvent[]> => writtenEvents(service.database, id);

/** Actions that change nothing can share a transaction. */
const made = new Map<string, Promise<Made>>();
const shared = (state: State, both: boolean): Promise<Made> => {
  const name = `${state} ${both}`;
  if (!made.has(name)) made.set(name, make(state, both));
  return made.get(name)!;
};
const callerOf = (party: Party): TestCustomer =>
  ({ source: alice, both: alice, target: bob, neither: carol })[party];

describe('what a party may do', () => {
  const owner = { affirm: 'target', cancel: 'source' } as const;
  const table = STATES.flatMap((state) =>
    (['affirm', 'cancel'] as const).flatMap((action) =>
      PARTIES.map((party) => {
        const may = party === 'both' || party === owner[action];
        const code = party === 'neither' ? 404 : !may ? 403 : state === 'PENDING' ? 200 : 409;
        return [action, state, party, code] as const;
      }),
    ),
  );

  it.each(table)('%s of one that is %s by %s: %i', async (action, state, party, code) => {
    const one = code === 200 ? await make(state, party === 'both') : await shared(state, party === 'both');
    const before = await act.read(alice, one.id);
    const told = await eventsOf(one.id);
    const answer = await act[action](callerOf(party), one.id);
    if (code === 200) {
      const status = action === 'affirm' ? 'AFFIRMED' : 'CANCELLED';
      expect([answer.status, answer.body.status]).toEqual([200, status]);
      const moved = (await eventsOf(one.id)).filter(
        ({ type }) => type === `settlement.transaction.${status.toLowerCase()}`,
      );
      expect(moved.map((event) => event.customer_id).sort()).toEqual(
        [...new Set([one.source.id, one.target.id])].sort(),
      );
      for (const { resource } of moved) expect(resource).toEqual(answer.body);
      return;
    }
    const slug = { 403: 'forbidden', 404: 'not-found', 409: 'invalid-state' }[code];
    const meta = expectProblem(answer, code, slug);
    if (code === 409) expect(meta).toEqual({ status: statusOf(state) });
    expect((await act.read(alice, one.id)).body).toEqual(before.body);
    expect(await eventsOf(one.id)).toEqual(told);
  });

  it.each(STATES.flatMap((state) => PARTIES.map((party) => [state, party] as const)))(
    'reading one that is %s by %s shows why it has not settled, or nothing',
    async (state, party) => {
      const one = await shared(state, party === 'both');
      const answer: Answer = await act.read(callerOf(party), one.id);
      if (party === 'neither') return expectProblem(answer, 404, 'not-found');
      const why: Partial<Record<State, string>> = {
        PENDING: 'AWAITING_AFFIRMATION',
        AFFIRMED: 'AWAITING_WINDOW',
        'AFFIRMED without funds': 'AWAITING_FUNDS',
      };
      expect([answer.status, answer.body.status]).toEqual([200, statusOf(state)]);
      expect(answer.body.secondary_status?.name).toBe(why[state]);
      return undefined;
    },
  );
});

describe('without a request', () => {
  type Happening = 'the window opens and funds are there' | 'the window ends';
  const happen: Record<Happening, (one: Made) => Promise<void>> = {
    async 'the window opens and funds are there'({ id, source }) {
      const { body } = await act.read(source, id);
      await service.database.query(
        `update settlement_transactions set window_start_ns = created_at_ns - 1, window_end_ns = created_at_ns + 3600000000000
         where id = $1`,
        [id],
      );
      await source.call('POST', `/v2/sandbox/profiles/${body.source_profile_id}/deposit`, {
        asset: 'USD',
        amount: '10',
      });
    },
    'the window ends': ({ id }) => endWindow(id),
  };
  const becomes: Record<Happening, Partial<Record<State, string>>> = {
    'the window opens and funds are there': { AFFIRMED: 'SETTLED', 'AFFIRMED without funds': 'SETTLED' },
    'the window ends': { PENDING: 'EXPIRED', AFFIRMED: 'EXPIRED', 'AFFIRMED without funds': 'EXPIRED' },
  };
  const table = (Object.keys(happen) as Happening[]).flatMap((happening) =>
    STATES.map((state) => [happening, state, becomes[happening][state] ?? statusOf(state)] as const),
  );

  it.each(table)('%s: one that is %s becomes or stays %s', async (happening, state, next) => {
    const one = await make(state, false);
    const told = await eventsOf(one.id);
    await happen[happening](one);
    const body = await reach(one, ({ status }) => status === next);
    if (next === statusOf(state)) {
      await sleep(150);
      expect((await act.read(alice, one.id)).body.status).toBe(next);
      expect(await eventsOf(one.id)).toEqual(told);
      return;
    }
    expect(body.secondary_status).toBeUndefined();
    const moved = (await eventsOf(one.id)).slice(told.length);
    expect(moved.map(({ type }) => type)).toEqual(
      Array(2).fill(`settlement.transaction.${next.toLowerCase()}`),
    );
    expect(moved.map((event) => event.customer_id).sort()).toEqual([alice.id, bob.id].sort());
    for (const { resource } of moved) expect(resource).toEqual(body);
  });
});
