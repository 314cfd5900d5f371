import { afterAll, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { LIMITS } from '../../src/limits.ts';
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

/** Each wrong value is an error of its own, and takes microseconds. */
it('a body of more values than any valid one has is refused before they are looked at', async () => {
  const customer = await service.createCustomer();
  const roles = Array.from({ length: 40_000 }, (_, index) => index);
  const members = [{ identity_id: '00000000-0000-7000-8000-000000000000', roles }];
  const body = { account_id: '00000000-0000-7000-8000-000000000000', members };
  const answer = await customer.call('POST', '/v2/identity/account-members', body);
  expectInvalid(answer, '');
  expect(answer.body.detail).toBe('the body must not have more than 24000 values.');
});

it('the longest list that is allowed is accepted', async () => {
  const customer = await service.createCustomer();
  const profile = await service.createProfile(customer);
  const ids = Array.from({ length: LIMITS.acceptedProfilesMax }, newId);
  const body = { accepts_from: 'LISTED', profile_ids: ids };
  const answer = await customer.call('PUT', `/v2/profiles/${profile}/incoming`, body);
  expect(answer.body.profile_ids).toHaveLength(LIMITS.acceptedProfilesMax);
});
