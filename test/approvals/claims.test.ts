import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { BEHIND_PROXY } from '../people/visitor.ts';
import { CLIENTS } from '../support/client-cases.ts';
import { APPROVALS, createEyes, type Eyes, vote } from '../support/four-eyes.ts';
import { expectProblem, startTestService, type TestCustomer, type TestService } from '../support/service.ts';

/** A secret or an enrolment link is handed over once, to the maker of the approved request, and is stored nowhere. */
let service: TestService;
let eyes: Eyes;
let customer: TestCustomer;
beforeAll(async () => {
  service = await startTestService({ FERRY_FOUR_EYES: 'on', ...BEHIND_PROXY });
  eyes = await createEyes(service);
  customer = await service.createCustomer();
});
afterAll(() => service.stop());

const claim = (id: string) => `${APPROVALS}/${id}/claim`;

it('the secret of a client is shown to the maker alone, once, after the approval', async () => {
  const body = { customer_id: customer.id, name: newId(), scopes: ['funding:read_profile'] };
  const { body: request } = await eyes.maker.call('POST', CLIENTS, body);
  expectProblem(await eyes.maker.call('POST', claim(request.id)), 409, 'invalid-state');
  expect((await vote(eyes.approver, request)).body).toMatchObject({ status: 'EXECUTED' });
  expectProblem(await eyes.second.call('POST', claim(request.id)), 403, 'forbidden');
  const { status, body: given } = await eyes.maker.call('POST', claim(request.id));
  expect({ status, given }).toMatchObject({ status: 200, given: { client_id: request.proposal.client_id } });
  expectProblem(await eyes.maker.call('POST', claim(request.id)), 409, 'invalid-state');
  const token = await fetch(`${service.url}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${given.client_id}:${given.client_secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  expect(token.status).toBe(200);
  const [stored] = await service.database.query<{ found: boolean }>(
    `select exists (select from client_secrets where hash like '%' || $1 || '%')
         or exists (select from approvals where to_jsonb(approvals)::text like '%' || $1 || '%') as found`,
    [given.client_secret],
  );
  expect(stored!.found).toBe(false);
});

it('two claims at the same time give one secret', async () => {
  const body = { customer_id: customer.id, name: newId(), scopes: ['funding:read_profile'] };
  const { body: request } = await eyes.maker.call('POST', CLIENTS, body);
  await vote(eyes.approver, request);
  const claims = await Promise.all([1, 2, 3].map(() => eyes.maker.call('POST', claim(request.id))));
  expect(claims.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409, 409]);
  const { client_id: id } = request.proposal;
  expect((await eyes.maker.call('GET', `${CLIENTS}/${id}`)).body.credentials).toHaveLength(1);
});

it('what was changed in the database after the approval is not handed over', async () => {
  const body = { customer_id: customer.id, name: newId(), scopes: ['funding:read_profile'] };
  const { body: request } = await eyes.maker.call('POST', CLIENTS, body);
  await vote(eyes.approver, request);
  await service.database.query(
    `update approvals set proposal = jsonb_set(proposal, '{client_id}', to_jsonb($2::text)) where id = $1`,
    [request.id, eyes.approver.clientId],
  );
  expectProblem(await eyes.maker.call('POST', claim(request.id)), 409, 'digest-mismatch');
});

it('the enrolment link of a new person is handed to the administrator who asked for it', async () => {
  const person = { name: 'Nadia New', email: `${newId()}@example.com`, roles: ['MAKER'] };
  const { body: request } = await eyes.person.call('POST', '/v2/people', person);
  await vote(eyes.approver, request);
  const [row] = await service.database.query<{ text: string }>(
    'select to_jsonb(approvals)::text as text from approvals where id = $1',
    [request.id],
  );
  expect(row!.text).not.toContain('Nadia');
  const { body: given } = await eyes.person.call('POST', claim(request.id));
  expect(given).toMatchObject({ person_id: request.proposal.person_id, enrolment_url: expect.any(String) });
});
