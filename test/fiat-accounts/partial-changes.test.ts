import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  aba,
  FIAT_ACCOUNTS,
  kinds,
  NUMBER,
  person,
  request,
  swift,
  wire,
  wrong,
} from '../support/fiat-accounts.ts';
import { expectInvalid, startTestService, type TestCustomer, type TestService } from '../support/service.ts';

let service: TestService;
let alice: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
});
afterAll(() => service.stop());

const create = async (body: object = request): Promise<any> =>
  (await alice.call('POST', FIAT_ACCOUNTS, body)).body;
const get = async (id: string): Promise<any> => (await alice.call('GET', `${FIAT_ACCOUNTS}/${id}`)).body;
const put = (id: string, fields: object) =>
  alice.call('PUT', `${FIAT_ACCOUNTS}/${id}`, { fiat_network_instructions: fields });

/** The instructions with the whole number, as a reviewer is shown them. */
async function stored(id: string): Promise<any> {
  const view = await alice.call('GET', `/v2/operator/fiat-accounts/${id}`);
  return view.body.fiat_network_instructions;
}

describe('a change of instructions', () => {
  it.each(Object.entries(kinds))(
    'may send back what was read, with the number masked: %s',
    async (kind, fields) => {
      const { id } = await create({
        fiat_account_owner: person,
        fiat_network_instructions: { [kind]: fields },
      });
      const { fiat_network_instructions: shown } = await get(id);
      expect(JSON.stringify(shown)).toContain('****');
      expect((await put(id, shown)).status).toBe(200);
      expect(await stored(id)).toEqual({ [kind]: fields });
    },
  );

  it('without the number keeps it, and changes only what is there', async () => {
    const { id } = await create();
    expect((await put(id, { wire: { routing_details: swift } })).status).toBe(200);
    expect(await stored(id)).toEqual({ wire: { ...wire, routing_details: swift } });
  });

  it('with another number alone changes the number', async () => {
    const { id } = await create();
    expect((await put(id, { wire: { account_number: '9876543210' } })).body).toMatchObject({
      status: 'PENDING',
      fiat_network_instructions: { wire: { account_number: '****3210' } },
    });
    expect(await stored(id)).toEqual({ wire: { ...wire, account_number: '9876543210' } });
  });

  it('that is complete removes the optional part that it does not have', async () => {
    const both = { ...wire, intermediary_routing_details: aba };
    const { id } = await create({ ...request, fiat_network_instructions: { wire: both } });
    await put(id, { wire: { routing_details: swift } });
    expect((await stored(id)).wire.intermediary_routing_details).toEqual(aba);
    await put(id, { wire: { ...wire, account_number: `****${NUMBER.slice(-4)}` } });
    expect(await stored(id)).toEqual({ wire });
  });

  it('with the mask of another number is refused, and nothing changes', async () => {
    const { id } = await create();
    const before = await get(id);
    const answer = await put(id, { wire: { ...wire, account_number: '****0000' } });
    expectInvalid(answer, '/fiat_network_instructions/wire/account_number');
    expect(await get(id)).toEqual(before);
  });

  it('is checked as a whole: a letter that no wire carries is refused in a part, too', async () => {
    const { id } = await create();
    const address = { country: 'US', address1: '你好', city: 'New York' };
    const answer = await put(id, { wire: { fiat_account_owner_address: address } });
    expectInvalid(answer, '/fiat_network_instructions/wire/fiat_account_owner_address/address1');
  });
});

describe('the reason of a rejection', () => {
  it('is shown until the account changes, in reads, lists and the event', async () => {
    const { id } = await create(wrong);
    const rejected = await get(id);
    expect(rejected).toMatchObject({ status: 'REJECTED', reason: expect.stringContaining('check digit') });
    const list = await alice.call('GET', `${FIAT_ACCOUNTS}?ids=${id}`);
    expect(list.body.items).toEqual([rejected]);
    await alice.call('PUT', `${FIAT_ACCOUNTS}/${id}`, request);
    expect(await get(id)).not.toHaveProperty('reason');
  });

  it('that a reviewer gives is the one that the customer is shown', async () => {
    const { id } = await create();
    await alice.call('PUT', `${FIAT_ACCOUNTS}/${id}`, { metadata: { again: '1' } });
    const { body } = await alice.call('POST', FIAT_ACCOUNTS, {
      ...request,
      fiat_network_instructions: { wire: { ...wire, fiat_account_owner_address: { country: 'Atlantis' } } },
    });
    const path = `/v2/sandbox/fiat-accounts/${body.id}/reject`;
    await alice.call('POST', path, { reason: 'The bank has no such account.' });
    expect((await get(body.id)).reason).toBe('The bank has no such account.');
  });
});

describe('a list with deleted accounts', () => {
  it('merges them with the others in every order, page by page', async () => {
    const customer = await service.createCustomer();
    const ids: string[] = [];
    for (let index = 0; index < 7; index += 1)
      ids.push((await customer.call('POST', FIAT_ACCOUNTS, request)).body.id);
    const deleted = [ids[1]!, ids[4]!, ids[5]!];
    for (const id of deleted) await customer.call('DELETE', `${FIAT_ACCOUNTS}/${id}`);
    const walk = async (query: string): Promise<string[]> => {
      const found: string[] = [];
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const more = cursor && `&page_cursor=${cursor}`;
        const page = await customer.call('GET', `${FIAT_ACCOUNTS}?limit=2&order=ASC&${query}${more}`);
        found.push(...page.body.items.map((one: any) => one.id));
        cursor = page.body.next_page_cursor;
      }
      return found;
    };
    expect(await walk('include_deleted=true')).toEqual(ids);
    expect(await walk('include_deleted=false')).toEqual(ids.filter((id) => !deleted.includes(id)));
    const byUpdate = await walk('include_deleted=true&order_by=UPDATED_AT');
    expect(byUpdate).toEqual([...ids.filter((id) => !deleted.includes(id)), ...deleted]);
    expect(await walk('include_deleted=true&statuses=APPROVED')).toEqual(ids);
    expect(await walk('include_deleted=true&statuses=REJECTED')).toEqual([]);
    const [first] = (await customer.call('GET', `${FIAT_ACCOUNTS}?include_deleted=true&ids=${deleted[0]}`))
      .body.items;
    expect(first).toHaveProperty('deleted_at');
    expectInvalid(
      await customer.call('GET', `${FIAT_ACCOUNTS}?include_deleted=maybe`),
      '/query/include_deleted',
    );
  });
});
