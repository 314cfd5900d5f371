import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

/** Saved addresses and listed destinations are one list. */
const PATH = '/v2/transfer/crypto-destination-addresses';
const BITCOIN = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const ETHEREUM = '0x52908400098527886E0F7030069857D2E4169EE7';

let service: TestService;
let alice: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
});
afterAll(() => service.stop());

const save = (crypto_network: string, address: string, label?: string, by = alice) =>
  by.call('POST', PATH, { crypto_network, address, ...(label !== undefined && { label }) });

describe('a saved address', () => {
  it('can be read, listed by network and deleted', async () => {
    const { status, body } = await save('BITCOIN', BITCOIN, 'Cold wallet');
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.any(String),
      crypto_network: 'BITCOIN',
      address: BITCOIN,
      label: 'Cold wallet',
      created_at: expect.any(String),
    });
    const coin = (await save('ETHEREUM', ETHEREUM)).body;
    expect((await alice.call('GET', `${PATH}/${body.id}`)).body).toEqual(body);
    expect((await alice.call('GET', PATH)).body.items).toEqual([coin, body]);
    expect((await alice.call('GET', `${PATH}?crypto_networks=BITCOIN`)).body.items).toEqual([body]);
    expect((await alice.call('DELETE', `${PATH}/${body.id}`)).body).toEqual(body);
    expectProblem(await alice.call('GET', `${PATH}/${body.id}`), 404, 'not-found');
    expectProblem(await alice.call('DELETE', `${PATH}/${body.id}`), 404, 'not-found');
  });

  it('that is saved again stays as it is, however it is written', async () => {
    const first = (await save('BITCOIN', BITCOIN, 'One')).body;
    expect((await save('BITCOIN', BITCOIN.toUpperCase(), 'Two')).body).toEqual(first);
  });

  it('is a listed destination, and the other way round; fiat accounts are not addresses', async () => {
    const bob = await service.createCustomer();
    const saved = (await save('BITCOIN', BITCOIN, 'Cold wallet', bob)).body;
    const listed = (await bob.call('GET', '/v2/destinations')).body.items;
    expect(listed).toMatchObject([{ id: saved.id, destination: `BITCOIN/${BITCOIN}`, label: 'Cold wallet' }]);
    const fiat = await bob.call('POST', '/v2/destinations', { destination: `fiat_account/${saved.id}` });
    expect((await bob.call('GET', PATH)).body.items).toEqual([saved]);
    expectProblem(await bob.call('GET', `${PATH}/${fiat.body.id}`), 404, 'not-found');
    expectProblem(await bob.call('DELETE', `${PATH}/${fiat.body.id}`), 404, 'not-found');
    expect((await bob.call('GET', '/v2/destinations')).body.items).toHaveLength(2);
  });

  it('lets a withdrawal pass a policy that allows only listed destinations', async () => {
    const carol = await service.createCustomer();
    const profile = await service.createProfile(carol, { BTC: '10' });
    await carol.call('POST', '/v2/policies', {
      name: 'listed',
      enabled: true,
      rules: [{ type: 'destinations', name: 'listed', listed_only: true, cooling_off_hours: 0 }],
      reason: 'Test',
    });
    const withdraw = () =>
      carol.call('POST', '/v2/transfer/crypto-withdrawals', {
        profile_id: profile,
        asset: 'BTC',
        crypto_network: 'BITCOIN',
        destination_address: BITCOIN,
        amount: '1',
      });
    expectProblem(await withdraw(), 403, 'policy-refused');
    await save('BITCOIN', BITCOIN, undefined, carol);
    expect((await withdraw()).status).toBe(200);
  });

  it('must be an address of its network', async () => {
    expectInvalid(await save('BITCOIN', ETHEREUM), '/address');
    expectInvalid(await save('DOGECOIN', BITCOIN), '/crypto_network');
    expectInvalid(await save('BITCOIN', BITCOIN, ' '), '/label');
  });

  it('needs the scope that guards the list of destinations', async () => {
    const reader = await service.createCustomer({ scopes: ['policy:read_policy'] });
    expect((await reader.call('GET', PATH)).status).toBe(200);
    const meta = expectProblem(await save('BITCOIN', BITCOIN, undefined, reader), 403, 'insufficient-scope');
    expect(meta.required).toBe('policy:write_policy');
  });
});
