import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { changed, FIAT_ACCOUNTS, NUMBER, person, request, wire } from '../support/fiat-accounts.ts';
import { PRODUCTION } from '../support/production.ts';
import {
  type Answer,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

const QUEUE = '/v2/operator/fiat-accounts';
/** Differs only in digits that a masked number does not show. */
const SIMILAR = '999999996789';

let service: TestService;
let owner: TestCustomer;
let reviewer: TestCustomer;
let second: TestCustomer;
beforeAll(async () => {
  service = await startTestService(PRODUCTION);
  owner = await service.createCustomer();
  reviewer = await service.createCustomer({ scopes: ['operator:review'] });
  second = await service.createCustomer({ scopes: ['operator:review'] });
});
afterAll(() => service.stop());

async function create(body: object = request): Promise<string> {
  const answer = await owner.call('POST', FIAT_ACCOUNTS, body);
  expect(answer.status).toBe(200);
  return answer.body.id;
}
const view = (id: string, by = reviewer): Promise<Answer> => by.call('GET', `${QUEUE}/${id}`);
const digestOf = async (id: string, by = reviewer): Promise<string> => (await view(id, by)).body.digest;
const approve = (id: string, digest: string, by = reviewer): Promise<Answer> =>
  by.call('POST', `${QUEUE}/${id}/approve`, { digest });
const reject = (id: string, digest: string, by = reviewer): Promise<Answer> =>
  by.call('POST', `${QUEUE}/${id}/reject`, { digest, reason: 'no such bank' });
const update = (id: string, body: object): Promise<Answer> =>
  owner.call('PUT', `${FIAT_ACCOUNTS}/${id}`, body);
const statusOf = async (id: string): Promise<string> =>
  (await owner.call('GET', `${FIAT_ACCOUNTS}/${id}`)).body.status;
const viewsOf = async (id: string): Promise<any[]> =>
  (await second.call('GET', `${QUEUE}/${id}/views`)).body.items;

function expectViewAgain(answer: Answer, status: string): void {
  expect(expectProblem(answer, 409, 'invalid-state')).toEqual({ status });
  expect(answer.body.detail).toMatch(/view it again/);
}

describe('a reviewer', () => {
  it('sees the whole number and everything else that decides', async () => {
    const id = await create();
    const { body } = await view(id);
    expect(body).toMatchObject({
      id,
      customer_id: owner.id,
      status: 'PENDING',
      fiat_account_owner: person,
      fiat_network_instructions: { wire },
      findings: [],
      digest: expect.stringMatching(/^[\w-]{43}$/),
    });
    const queue = await reviewer.call('GET', `${QUEUE}?ids=${id}`);
    expect(JSON.stringify(queue.body)).not.toContain(NUMBER);
    expect(queue.body.items[0].fiat_network_instructions.wire.account_number).toBe('****6789');
  });

  it('gets the same digest for the same version, and another one for every other', async () => {
    const ids = await Promise.all([create(), create()]);
    const digests = await Promise.all(ids.map((id) => digestOf(id)));
    expect(await digestOf(ids[0], second)).toBe(digests[0]);
    await update(ids[0], { fiat_network_instructions: { wire: { ...wire, account_number: SIMILAR } } });
    const similar = await digestOf(ids[0]);
    await update(ids[0], { fiat_network_instructions: { wire } });
    const again = await digestOf(ids[0]);
    expect(new Set([...digests, similar, again]).size).toBe(4);
  });

  it('is not shown deleted and unknown accounts', async () => {
    const id = await create();
    await owner.call('DELETE', `${FIAT_ACCOUNTS}/${id}`);
    expectProblem(await view(id), 404, 'not-found');
    expectProblem(await view(newId()), 404, 'not-found');
    expect(await viewsOf(id)).toEqual([]);
  });
});

describe('every view', () => {
  it('is recorded: who, when and which version, without the number', async () => {
    const id = await create();
    const first = await digestOf(id);
    await update(id, { metadata: { changed: 'yes' } });
    const other = await digestOf(id, second);
    await approve(id, other, second);
    const views = await viewsOf(id);
    expect(views).toEqual([
      {
        id: expect.any(String),
        customer_id: second.id,
        client_id: expect.stringMatching(/^ferry_/),
        digest: other,
        created_at: expect.any(String),
      },
      expect.objectContaining({ customer_id: reviewer.id, digest: first }),
    ]);
    expect(views[0].client_id).not.toBe(views[1].client_id);
    const rows = await service.database.query('select * from fiat_account_views');
    expect(String(rows.map((row) => Object.values(row).join(' ')))).not.toContain(NUMBER);
    await owner.call('DELETE', `${FIAT_ACCOUNTS}/${id}`);
    expect(await viewsOf(id)).toHaveLength(2);
    expectProblem(await second.call('GET', `${QUEUE}/${newId()}/views`), 404, 'not-found');
  });

  it('is listed in pages', async () => {
    const id = await create();
    for (let count = 0; count < 3; count += 1) await view(id);
    const path = `${QUEUE}/${id}/views?limit=2&order=ASC`;
    const first = await second.call('GET', path);
    const rest = await second.call('GET', `${path}&page_cursor=${first.body.next_page_cursor}`);
    expect([first.body.items.length, rest.body.items.length]).toEqual([2, 1]);
    expect(rest.body.next_page_cursor).toBeUndefined();
    const ids = [...first.body.items, ...rest.body.items].map((one: { id: string }) => one.id);
    expect(new Set(ids).size).toBe(3);
  });

  it('that cannot be recorded shows nothing', async () => {
    const id = await create();
    await service.database.query('alter table fiat_account_views rename to hidden_views');
    try {
      const answer = await view(id);
      expect(answer.status).toBe(500);
      expect(JSON.stringify(answer.body)).not.toContain(NUMBER);
    } finally {
      await service.database.query('alter table hidden_views rename to fiat_account_views');
    }
    expect(await viewsOf(id)).toEqual([]);
  });
});

describe('a decision on another version than the one that was viewed is refused', () => {
  it('when the owner has changed the number in digits that the list does not show', async () => {
    const id = await create();
    const digest = await digestOf(id);
    await update(id, { fiat_network_instructions: { wire: { ...wire, account_number: SIMILAR } } });
    expectViewAgain(await approve(id, digest), 'PENDING');
    expectViewAgain(await reject(id, digest), 'PENDING');
    expect((await approve(id, await digestOf(id))).body.status).toBe('APPROVED');
  });

  it('when the owner has changed it and changed it back', async () => {
    const id = await create();
    const digest = await digestOf(id);
    await update(id, { fiat_network_instructions: { wire: { ...wire, account_number: SIMILAR } } });
    await update(id, { fiat_network_instructions: { wire } });
    expectViewAgain(await approve(id, digest), 'PENDING');
  });

  it('when the owner has deleted it, or registered the same account again', async () => {
    const id = await create();
    const digest = await digestOf(id);
    await owner.call('DELETE', `${FIAT_ACCOUNTS}/${id}`);
    expectProblem(await approve(id, digest), 404, 'not-found');
    const again = await create();
    expectViewAgain(await approve(again, digest), 'PENDING');
    expect(await statusOf(again)).toBe('PENDING');
  });

  it('when another reviewer has decided', async () => {
    const id = await create();
    const [digest, others] = [await digestOf(id), await digestOf(id, second)];
    expect((await approve(id, others, second)).status).toBe(200);
    expectViewAgain(await reject(id, digest), 'APPROVED');
    expectViewAgain(await approve(id, digest), 'APPROVED');
    // Viewed as it is now, it can no longer be decided.
    const now = await reject(id, await digestOf(id));
    expect(expectProblem(now, 409, 'invalid-state')).toEqual({ status: 'APPROVED' });
    expect(now.body.detail).not.toMatch(/view it again/);
  });
});

describe('at the same moment', () => {
  it('one of several reviewers decides, and the others are told to view it again', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await create();
      const digest = await digestOf(id);
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          index % 2 === 0 ? approve(id, digest) : reject(id, digest, second),
        ),
      );
      const decided = answers.filter(({ status }) => status === 200);
      expect(decided).toHaveLength(1);
      for (const answer of answers)
        if (answer.status !== 200) expectViewAgain(answer, decided[0]!.body.status);
    }
  });

  it('a change by the owner is never approved unseen', async () => {
    for (let round = 0; round < 30; round += 1) {
      const id = await create();
      const digest = await digestOf(id);
      const body = changed('/account_number', SIMILAR, wire);
      const [decision] = await Promise.all([
        approve(id, digest),
        update(id, { fiat_network_instructions: { wire: body } }),
      ]);
      // Whichever came first: the changed account waits for another review.
      expect([200, 409]).toContain(decision.status);
      expect(await statusOf(id)).toBe('PENDING');
    }
  });

  it('a deletion and a new registration are never approved unseen', async () => {
    for (let round = 0; round < 20; round += 1) {
      const id = await create();
      const digest = await digestOf(id);
      const [again, ...decisions] = await Promise.all([
        owner.call('DELETE', `${FIAT_ACCOUNTS}/${id}`).then(() => create()),
        approve(id, digest),
        approve(id, digest, second),
      ]);
      for (const { status } of decisions) expect([200, 404, 409]).toContain(status);
      expectViewAgain(await approve(again, digest), 'PENDING');
      expect(await statusOf(again)).toBe('PENDING');
    }
  });
});
