import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';

describe('the search of operators', () => {
  let service: TestService;
  let customer: TestCustomer;
  let operator: TestCustomer;
  let profile = '';
  beforeAll(async () => {
    service = await startTestService();
    customer = await service.createCustomer();
    operator = await service.createCustomer({ scopes: ['operator:read', 'operator:review'] });
    profile = await service.createProfile(customer, { BTC: '5' });
  });
  afterAll(() => service?.stop());

  const search = async (text: string): Promise<any> => {
    const { status, body } = await operator.call(
      'GET',
      `/v2/operator/search?text=${encodeURIComponent(text)}`,
    );
    expect(status).toBe(200);
    return body;
  };
  const withdraw = async (amount: string, ref_id: string): Promise<{ id: string }> =>
    (
      await customer.call('POST', '/v2/transfer/crypto-withdrawals', {
        profile_id: profile,
        destination_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
        asset: 'BTC',
        crypto_network: 'BITCOIN',
        amount,
        ref_id,
      })
    ).body;

  it('finds a transfer of any customer by its id, its ref_id and its amount', async () => {
    const { id } = await withdraw('0.12345', 'invoice 4711');
    const hit = {
      type: 'TRANSFER',
      id,
      customer_id: customer.id,
      label: 'CRYPTO_WITHDRAWAL',
      status: 'PENDING',
      asset: 'BTC',
      amount: '0.12345',
    };
    expect(await search(id)).toMatchObject({ items: [{ ...hit, matched: 'ID' }], complete: true });
    expect(await search('invoice 4711')).toMatchObject({ items: [{ ...hit, matched: 'REF_ID' }] });
    expect(await search('0.12345 btc')).toMatchObject({
      items: [{ ...hit, matched: 'AMOUNT' }],
      complete: false,
    });
    expect((await search('0.12345')).items).toHaveLength(1);
    expect((await search('0.12345 USD')).items).toEqual([]);
    expect((await search('invoice 47')).items).toEqual([]);
  });

  it('finds profiles, customers, deposit addresses and deposits in suspense', async () => {
    expect((await search(profile)).items).toMatchObject([{ type: 'PROFILE', id: profile, matched: 'ID' }]);
    const [{ label: name }] = (await search(customer.id)).items;
    expect((await search(name.slice(3, 20))).items).toMatchObject([{ type: 'CUSTOMER', id: customer.id }]);
    const { body: target } = await customer.call('POST', '/v2/transfer/deposit-addresses', {
      profile_id: profile,
      crypto_network: 'BITCOIN',
    });
    expect((await search(target.address)).items).toMatchObject([
      { type: 'DEPOSIT_ADDRESS', id: target.id, matched: 'ADDRESS', customer_id: customer.id },
    ]);
    const { body } = await customer.call('POST', '/v2/sandbox/fiat-deposits', {
      fiat_network: 'WIRE',
      memo_id: 'NOBODY',
      amount: '77.5',
      reference: 'FT26320-0042',
    });
    const { id } = body.suspense_deposit;
    expect((await search('FT26320-0042')).items).toMatchObject([
      { type: 'SUSPENSE_DEPOSIT', id, status: 'OPEN' },
    ]);
    expect((await search('77.5')).items).toMatchObject([{ id, asset: 'USD', amount: '77.5' }]);
    const listed = async (query: string) =>
      (await operator.call('GET', `/v2/operator/suspense-deposits?${query}`)).body.items.map(
        (one: any) => one.id,
      );
    expect(await listed('statuses=OPEN')).toEqual([id]);
    expect(await listed('statuses=CREDITED&statuses=RETURNED')).toEqual([]);
    expect(await listed(`ids=${id}`)).toEqual([id]);
  });

  it('takes every text literally', async () => {
    for (const text of ["'; --", '%%', '__', '\\\\', '{a,b}', '"x"', '9'.repeat(200), '1e9'])
      expect(await search(text)).toEqual({ items: [], complete: true });
  });

  it('says what an open withdrawal waits for', async () => {
    const { id } = await withdraw('0.2', 'waits');
    await withdraw('0.3', 'waits, too');
    const { body } = await operator.call('GET', `/v2/operator/withdrawals?ids=${id}`);
    expect(body.items).toMatchObject([{ transfer_id: id, waits_for: 'QUEUED' }]);
  });

  it('is not for customers', async () => {
    const other = await service.createCustomer({ scopes: ['transfer:read_transfer'] });
    expect((await other.call('GET', '/v2/operator/search?text=abc')).status).toBe(403);
  });
});
