import { expect } from 'vitest';
import { allEvents } from './events.ts';
import type { TestCustomer, TestService } from './service.ts';

/** Shared by the tests of fiat accounts: complete requests, and values that must never be shown. */
export const FIAT_ACCOUNTS = '/v2/transfer/fiat-accounts';
export const NUMBER = '000123456789';

export const person = { person_details: { first_name: 'Ada', last_name: 'Lovelace' } };
export const institution = { institution_details: { name: 'Analytical Engines Ltd' } };
const address = {
  country: 'US',
  address1: '1 Main Street',
  address2: 'Floor 2',
  city: 'New York',
  province: 'NY',
  zip_code: '10001',
};
export const aba = {
  routing_number_type: 'ABA',
  routing_number: '021000021',
  bank_name: 'First Bank',
  bank_address: address,
};
export const swift = { ...aba, routing_number_type: 'SWIFT', routing_number: 'CHASUS33XXX' };
export const wire = { account_number: NUMBER, routing_details: aba, fiat_account_owner_address: address };
export const kinds: Readonly<Record<string, object>> = {
  wire,
  cubix: { account_id: 'cubix-000123456789' },
  bank_network_2: { account_number: NUMBER },
  bank_network_3: { account_number: NUMBER },
  cbit: { wallet_address: '0x52908400098527886E0F7030069857D2E4169EE7' },
};
export const request = { fiat_account_owner: person, fiat_network_instructions: { wire } };

/** The complete request with the field at a JSON pointer set, or removed (undefined). */
export function changed(pointer: string, value: unknown, base: object = request): any {
  const copy = JSON.parse(JSON.stringify(base));
  const steps = pointer.slice(1).split('/');
  const last = steps.pop()!;
  const target = steps.reduce((object, step) => (object[step] ??= {}), copy);
  if (value === undefined) delete target[last];
  else target[last] = value;
  return copy;
}

/** The owner's street is missing, so a person has to review the account. */
export const waiting = changed('/fiat_network_instructions/wire/fiat_account_owner_address', {
  country: 'US',
});
/** The check digit of the routing number is wrong. */
export const wrong = changed('/fiat_network_instructions/wire/routing_details/routing_number', '021000022');

/** Records every answer that a customer gets. */
export function listening(customer: TestCustomer, said: string[]): TestCustomer {
  return {
    ...customer,
    async call(...args) {
      const answer = await customer.call(...args);
      said.push(JSON.stringify(answer.body));
      return answer;
    },
  };
}

export async function expectNoWholeNumber(said: readonly string[], services: readonly TestService[]) {
  expect(said.length).toBeGreaterThan(20);
  expect(said.filter((text) => text.includes(NUMBER))).toEqual([]);
  for (const { database } of services) {
    const events = await allEvents(database);
    expect(events.length).toBeGreaterThan(0);
    expect(events.filter((one) => JSON.stringify(one).includes(NUMBER))).toEqual([]);
  }
}
