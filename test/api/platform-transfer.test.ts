import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
});
afterAll(() => service.stop());

it('moves value and answers with the debit side', async () => {
  const from = await service.createProfile(alice, { USD: '100' });
  const to = await service.createProfile(bob);
  const answer = await alice.call('POST', '/v2/transfer/platform', {
    from_profile_id: from,
    to_profile_id: to,
    amount: '12.50',
    asset: 'USD',
    ref_id: 'one',
  });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    amount: '12.5',
    total: '12.5',
    fee: '0',
    type: 'PLATFORM_TRANSFER_DEBIT',
    status: 'COMPLETED',
    auto_conversion: {},
  });
  const replay = await alice.call('POST', '/v2/transfer/platform', {
    from_profile_id: from,
    to_profile_id: to,
    amount: '12.5',
    asset: 'USD',
    ref_id: 'one',
  });
  expect(replay.headers.get('idempotent-replayed')).toBe('true');
  expect(replay.body).toEqual(answer.body);
  const other = await alice.call('POST', '/v2/transfer/platform', {
    from_profile_id: from,
    to_profile_id: to,
    amount: '13',
    asset: 'USD',
    ref_id: 'one',
  });
  expect(expectProblem(other, 409, 'already-exists')).toMatchObject({ differs: ['amount'] });
});

it('names every broken field', async () => {
  expectInvalid(
    await alice.call('POST', '/v2/transfer/platform', { amount: 25, asset: 'USD', foo: 1 }),
    '/from_profile_id',
    '/to_profile_id',
    '/amount',
    '/foo',
  );
});
