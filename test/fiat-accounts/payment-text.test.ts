import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allEvents } from '../support/events.ts';
import { changed, FIAT_ACCOUNTS, institution, request, swift } from '../support/fiat-accounts.ts';
import { expectInvalid, startTestService, type TestCustomer, type TestService } from '../support/service.ts';

/** Payment networks have only Latin letters without accents. */
let service: TestService;
let alice: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
});
afterAll(() => service.stop());

const wireAt = '/fiat_network_instructions/wire';
const owner = '/fiat_account_owner/person_details';
const create = (body: object) => alice.call('POST', FIAT_ACCOUNTS, body);
const german = changed(
  `${wireAt}/fiat_account_owner_address/city`,
  'Køge',
  changed(`${owner}/first_name`, 'Jürgen', changed(`${owner}/last_name`, 'Groß & Söhne')),
);
const SENT = [
  { pointer: `${owner}/first_name`, sent_as: 'Jurgen' },
  { pointer: `${owner}/last_name`, sent_as: 'Gross + Sohne' },
  { pointer: `${wireAt}/fiat_account_owner_address/city`, sent_as: 'Koge' },
];

describe('letters that payments carry in another form', () => {
  it('are shown in every answer about the account, and not in its events', async () => {
    const { status, body } = await create(german);
    expect({ status, sent: body.transliterations }).toEqual({ status: 200, sent: SENT });
    // What was given stays as it is.
    expect(body.fiat_account_owner.person_details.first_name).toBe('Jürgen');
    const read = await alice.call('GET', `${FIAT_ACCOUNTS}/${body.id}`);
    expect(read.body).toMatchObject({ status: 'APPROVED', transliterations: SENT });
    const list = await alice.call('GET', `${FIAT_ACCOUNTS}?ids=${body.id}`);
    expect(list.body.items).toMatchObject([{ transliterations: SENT }]);
    const events = await allEvents(service.database);
    expect(JSON.stringify(events)).not.toContain('Jurgen');
    // Deleted with the names.
    const deleted = await alice.call('DELETE', `${FIAT_ACCOUNTS}/${body.id}`);
    expect(deleted.body).not.toHaveProperty('transliterations');
  });

  it('are not mentioned if there are none, or if the account is not paid by wire', async () => {
    expect((await create(request)).body).not.toHaveProperty('transliterations');
    const network = { fiat_network_instructions: { cubix: { account_id: 'a1' } } };
    const { status, body } = await create({ ...german, ...network });
    expect(status).toBe(200);
    expect(body).not.toHaveProperty('transliterations');
  });
});

describe('letters that no payment can carry', () => {
  const why = (letter: string): string =>
    `has "${letter}", which payment networks cannot carry; spell it in Latin letters`;
  it.each([
    [`${owner}/first_name`, '東', '東'],
    [`${owner}/last_name`, 'Иванov', 'И'],
    [`${wireAt}/fiat_account_owner_address/city`, 'Αthens', 'Α'],
    [`${wireAt}/fiat_account_owner_address/address1`, 'Straße ١', '١'],
    [`${wireAt}/routing_details/bank_name`, 'Bank ב', 'ב'],
    [`${wireAt}/routing_details/bank_address/province`, 'ต', 'ต'],
  ])('%s is refused with %s, and the field and the letter are named', async (pointer, text, letter) => {
    const before = await service.countRows();
    const answer = await create(changed(pointer, text));
    expectInvalid(answer, pointer);
    expect(answer.body.meta.errors[0].message).toContain(`"${letter}"`);
    expect(await service.countRows()).toEqual(before);
  });

  it('are all reported at once, of the institution and of the intermediary bank as well', async () => {
    const body = changed(
      '/fiat_account_owner',
      { institution_details: { name: '株式会社' } },
      changed(`${wireAt}/intermediary_routing_details`, { ...swift, bank_name: 'Банк' }),
    );
    const answer = await create(body);
    expectInvalid(
      answer,
      '/fiat_account_owner/institution_details/name',
      `${wireAt}/intermediary_routing_details/bank_name`,
    );
  });

  it('are refused in an update, and accepted where the network has its own letters', async () => {
    const { body } = await create({ ...request, fiat_account_owner: institution });
    const path = `${FIAT_ACCOUNTS}/${body.id}`;
    const renamed = { fiat_account_owner: { institution_details: { name: '東' } } };
    const answer = await alice.call('PUT', path, renamed);
    expectInvalid(answer, '/fiat_account_owner/institution_details/name');
    expect(answer.body.meta.errors[0].message).toBe(why('東'));
    const network = { ...renamed, fiat_network_instructions: { cubix: { account_id: 'a1' } } };
    expect((await create(network)).status).toBe(200);
  });
});
