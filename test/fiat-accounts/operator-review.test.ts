import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { type WrittenEvent, eventsOf as writtenEvents } from '../support/events.ts';
import {
  expectNoWholeNumber,
  FIAT_ACCOUNTS,
  listening,
  request,
  waiting,
  wrong,
} from '../support/fiat-accounts.ts';
import { PRODUCTION } from '../support/production.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

const QUEUE = '/v2/operator/fiat-accounts';

let service: TestService;
let production: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
/** All answers of the services in this file. */
const said: string[] = [];
beforeAll(async () => {
  [service, production] = await Promise.all([startTestService(), startTestService(PRODUCTION)]);
  alice = listening(await service.createCustomer(), said);
  bob = listening(await service.createCustomer(), said);
});
afterAll(async () => {
  await Promise.all([service.stop(), production.stop()]);
});

async function create(body: object = request, customer = alice): Promise<any> {
  const answer = await customer.call('POST', FIAT_ACCOUNTS, body);
  expect(answer.status).toBe(200);
  return answer.body;
}
const get = (id: string, customer = alice): Promise<Answer> => customer.call('GET', `${FIAT_ACCOUNTS}/${id}`);
const idsOf = (answer: Answer): string[] => answer.body.items.map(({ id }: { id: string }) => id);
const eventsOf = (id: string, from = service): Promise<WrittenEvent[]> => writtenEvents(from.database, id);

describe('review', () => {
  it('approves accounts that pass the checks at once in the sandbox, with an event', async () => {
    const created = await create();
    expect(created.status).toBe('PENDING');
    const { body } = await get(created.id);
    expect(body.status).toBe('APPROVED');
    expect((await eventsOf(created.id)).at(-1)).toEqual({
      customer_id: alice.id,
      type: 'fiat_account.approved',
      resource: { ...body, reason: 'All automatic checks passed.' },
    });
  });

  it('rejects invalid accounts, with the reason in the event', async () => {
    const { id, status } = await create(wrong);
    expect(status).toBe('PENDING');
    expect((await get(id)).body.status).toBe('REJECTED');
    expect((await eventsOf(id)).at(-1)).toMatchObject({
      type: 'fiat_account.rejected',
      resource: { status: 'REJECTED', reason: expect.stringContaining('check digit') },
    });
  });

  it.each<[string, string, { reason?: string } | undefined]>([
    ['approve', 'APPROVED', undefined],
    ['reject', 'REJECTED', { reason: 'no such bank' }],
    ['reject', 'REJECTED', {}],
  ])('the sandbox can %s an account that waits, once', async (verb, status, body) => {
    const { id } = await create(waiting);
    expect((await get(id)).body.status).toBe('PENDING');
    const path = `/v2/sandbox/fiat-accounts/${id}/${verb}`;
    const answer = await alice.call('POST', path, body);
    expect(answer.body).toEqual({ ...(await get(id)).body, status });
    const { resource } = (await eventsOf(id)).at(-1)!;
    expect(resource).toEqual({ ...answer.body, reason: body?.reason ?? `${status} in the sandbox.` });
    for (const again of ['approve', 'reject']) {
      const before = await service.countRows();
      const second = await alice.call('POST', `/v2/sandbox/fiat-accounts/${id}/${again}`);
      expect(expectProblem(second, 409, 'invalid-state')).toEqual({ status });
      expect(await service.countRows()).toEqual(before);
    }
  });

  it("the sandbox reviews only the caller's accounts, needs the scope, and refuses unknown fields", async () => {
    const { id } = await create(waiting);
    const path = `/v2/sandbox/fiat-accounts/${id}/approve`;
    expectProblem(await bob.call('POST', path), 404, 'not-found');
    const other = await service.createCustomer({ scopes: ['operator:review'] });
    expectProblem(await other.call('POST', path), 403, 'insufficient-scope');
    expectInvalid(await alice.call('POST', path, { why: 'x' }), '/why');
    expectInvalid(await alice.call('POST', path, { reason: 7 }), '/reason');
    expect((await get(id)).body.status).toBe('PENDING');
  });

  it('exactly one of many reviews at once succeeds', async () => {
    const { id } = await create(waiting);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        alice.call('POST', `/v2/sandbox/fiat-accounts/${id}/${index % 2 === 0 ? 'approve' : 'reject'}`),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await eventsOf(id)).toHaveLength(2);
  });
});

describe('operators in production', () => {
  let customer: TestCustomer;
  let operator: TestCustomer;
  let unheard: TestCustomer;
  beforeAll(async () => {
    customer = listening(await production.createCustomer(), said);
    unheard = await production.createCustomer({ scopes: ['operator:review'] });
    operator = listening(unheard, said);
  });
  const review = (id: string, verb: string, body?: object): Promise<Answer> =>
    operator.call('POST', `${QUEUE}/${id}/${verb}`, body);
  /** Views the account first. The answer has the whole number, so it is not among those that are searched for it. */
  const reviewSeen = async (id: string, verb: string, body: object = {}): Promise<Answer> => {
    const { digest } = (await unheard.call('GET', `${QUEUE}/${id}`)).body;
    return review(id, verb, { digest, ...body });
  };

  it('find the waiting accounts of all customers, with the findings of the checks', async () => {
    const passes = await create(request, customer);
    const asks = await create(waiting, customer);
    const fails = await create(wrong, customer);
    const queue = await operator.call('GET', `${QUEUE}?customer_ids=${customer.id}`);
    expect(queue.body.items).toEqual([
      {
        ...asks,
        customer_id: customer.id,
        findings: [
          {
            verdict: 'ASK',
            reason: 'The address of the owner is incomplete: address1 and city missing.',
          },
        ],
      },
      { ...passes, customer_id: customer.id, findings: [] },
    ]);
    const rejected = await operator.call('GET', `${QUEUE}?statuses=REJECTED&ids=${fails.id}`);
    expect(idsOf(rejected)).toEqual([fails.id]);
    const first = await operator.call('GET', `${QUEUE}?limit=1&order=ASC`);
    const second = await operator.call(
      'GET',
      `${QUEUE}?limit=1&order=ASC&page_cursor=${first.body.next_page_cursor}`,
    );
    expect([...idsOf(first), ...idsOf(second)]).toEqual([passes.id, asks.id]);
  });

  it('approve and reject once, with a reason that the customer sees', async () => {
    for (const [verb, status, body, reason] of [
      ['approve', 'APPROVED', undefined, 'Approved by an operator.'],
      ['approve', 'APPROVED', { reason: 'called the bank' }, 'called the bank'],
      ['reject', 'REJECTED', { reason: 'no such bank' }, 'no such bank'],
    ] as const) {
      const { id } = await create(request, customer);
      expect((await get(id, customer)).body.status).toBe('PENDING');
      expect((await reviewSeen(id, verb, body)).body).toMatchObject({ id, status });
      const shown = (await get(id, customer)).body;
      expect(shown.status).toBe(status);
      expect((await eventsOf(id, production)).at(-1)).toEqual({
        customer_id: customer.id,
        type: `fiat_account.${status.toLowerCase()}`,
        resource: { ...shown, reason },
      });
      expect(expectProblem(await reviewSeen(id, 'approve'), 409, 'invalid-state')).toEqual({ status });
    }
  });

  it('must give a reason when they reject, and the digest of what they saw', async () => {
    const { id } = await create(request, customer);
    expectProblem(await review(id, 'reject'), 400, 'invalid-request');
    expectProblem(await review(id, 'approve'), 400, 'invalid-request');
    expectInvalid(await review(id, 'reject', {}), '/reason', '/digest');
    expectInvalid(await reviewSeen(id, 'reject'), '/reason');
    expectInvalid(await review(id, 'approve', { reason: 'called the bank' }), '/digest');
    expectInvalid(await review(id, 'approve', { digest: 'yesterday' }), '/digest');
    expect((await get(id, customer)).body.status).toBe('PENDING');
  });

  it('need the scope, which customers cannot have', async () => {
    const { id } = await create(request, customer);
    const plain = await production.createCustomer({ scopes: ['transfer:write_fiat_account'] });
    expectProblem(await plain.call('GET', QUEUE), 403, 'insufficient-scope');
    expectProblem(await plain.call('POST', `${QUEUE}/${id}/approve`), 403, 'insufficient-scope');
    expectProblem(await plain.call('GET', `${QUEUE}/${id}`), 403, 'insufficient-scope');
    expectProblem(await plain.call('GET', `${QUEUE}/${id}/views`), 403, 'insufficient-scope');
    const digest = 'A'.repeat(43);
    expectProblem(await review(newId(), 'approve', { digest }), 404, 'not-found');
    expectInvalid(await review('x', 'approve', { digest }), '/path/id');
  });

  it('are the only reviewers: the simulation endpoints do not exist', async () => {
    const metadata = await fetch(`${production.url}/.well-known/oauth-authorization-server`);
    const { scopes_supported: scopes } = (await metadata.json()) as { scopes_supported: string[] };
    expect(scopes).toContain('operator:review');
    expect(scopes).not.toContain('sandbox:simulate');
    const { id } = await create(request, customer);
    for (const verb of ['approve', 'reject']) {
      const answer = await customer.call('POST', `/v2/sandbox/fiat-accounts/${id}/${verb}`);
      expectProblem(answer, 404, 'not-found');
    }
    expect((await get(id, customer)).body.status).toBe('PENDING');
  });
});

it('no answer, problem or event in this file contains a whole account number', async () => {
  await expectNoWholeNumber(said, [service, production]);
});
