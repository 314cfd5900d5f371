import { afterAll, expect, it } from 'vitest';
import { expectInvalid, startTestService } from '../support/service.ts';

const service = await startTestService();
afterAll(() => service.stop());

function schemasIn(value: unknown): Record<string, any>[] {
  if (value === null || typeof value !== 'object') return [];
  return [value as Record<string, any>, ...Object.values(value).flatMap(schemasIn)];
}

/** Of items whose type it does not know, the validator compares each with all others: seconds for 50,000 of them. */
it('lists without duplicates say of which type their items are, so that checking them takes linear time', () => {
  const lists = schemasIn(service.description.document).filter((schema) => schema.uniqueItems === true);
  expect(lists.length).toBeGreaterThan(1);
  expect(lists.filter(({ items }) => items.type !== 'string')).toEqual([]);
});

it('a list of many wrong items is refused', async () => {
  const customer = await service.createCustomer();
  const roles = Array.from({ length: 40_000 }, (_, index) => index);
  const members = [{ identity_id: '00000000-0000-7000-8000-000000000000', roles }];
  const body = { account_id: '00000000-0000-7000-8000-000000000000', members };
  const answer = await customer.call('POST', '/v2/identity/account-members', body);
  const shown = answer.body.meta.errors.map((error: { pointer: string }) => error.pointer);
  expect(shown[0]).toMatch(/^\/members\/0\/roles/);
  expectInvalid(answer, ...shown);
});
