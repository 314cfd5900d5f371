import { createClient } from '../../src/auth/administration.ts';
import { CUSTOMER_SCOPES } from '../../src/auth/scopes.ts';
import type { ConsoleService } from './console-service.ts';

type Call = (method: string, path: string, body?: object) => Promise<any>;

export const WIRE = {
  account_number: '9876543210',
  routing_details: {
    routing_number_type: 'ABA',
    routing_number: '021000021',
    bank_name: 'First Harbour Bank',
    bank_address: { country: 'US' },
  },
  fiat_account_owner_address: { country: 'US', city: 'Boston' },
};
export const BITCOIN = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';

/** Calls operations as a client of the customer of the demo, or of another one. Refuses answers that are no success. */
export async function callsOf({ service, customerId }: ConsoleService, customer = customerId): Promise<Call> {
  const { clientId, clientSecret } = await createClient(service.database, service.vault, {
    customer,
    name: 'reporting',
    scopes: [...CUSTOMER_SCOPES],
  });
  const token = await fetch(`${service.url}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token: bearer } = (await token.json()) as { access_token: string };
  return async (method, path, body) => {
    const response = await fetch(service.url + path, {
      method,
      headers: {
        authorization: `Bearer ${bearer}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
}

/** Something of everything that the screens of a customer show. */
export async function fillCustomer(world: ConsoleService, hookUrl = 'http://127.0.0.1:9/hook') {
  const { service, profileId } = world;
  const call = await callsOf(world);
  const partner = await service.createCustomer();
  const partnersProfile = await service.createProfile(partner, { USD: '500000', BTC: '5' });
  await service.database.query(`update profiles set nickname = 'Treasury' where id = $1`, [profileId]);
  await call('POST', '/v2/events/webhooks', { url: hookUrl, description: 'Back office' });
  const desk = await call('POST', '/v2/profiles', { nickname: 'Trading desk', description: 'OTC trades' });
  for (const [asset, amount] of [
    ['USD', '1250'],
    ['USD', '18.75'],
    ['BTC', '0.00420001'],
    ['BTC', '2.5'],
    ['USD', '24000.1'],
  ])
    await call('POST', '/v2/transfer/internal', {
      from_profile_id: profileId,
      to_profile_id: desk.id,
      asset,
      amount,
    });
  const account = await call('POST', '/v2/transfer/fiat-accounts', {
    fiat_account_owner: { institution_details: { name: 'Harbour Brokerage LLC' } },
    fiat_network_instructions: { wire: WIRE },
  });
  await call('POST', '/v2/policies', {
    name: 'withdrawals',
    enabled: true,
    rules: [
      { type: 'velocity', name: 'one day', asset: 'USD', max: '50000', window: 'DAY', per: 'CUSTOMER' },
      { type: 'approval', name: 'large payments', asset: 'USD', above: '10000' },
    ],
    reason: 'Agreed with the board.',
  });
  const held = await call('POST', '/v2/transfer/fiat-withdrawals', {
    profile_id: profileId,
    fiat_account_id: account.id,
    asset: 'USD',
    amount: '12500',
  });
  const stuck = await call('POST', '/v2/transfer/crypto-withdrawals', {
    profile_id: profileId,
    asset: 'BTC',
    crypto_network: 'BITCOIN',
    destination_address: BITCOIN,
    amount: '0.25',
    memo: 'sandbox:pending',
  });
  const offer = await partner.call('POST', '/v2/settlement/transactions', {
    source_profile_id: partnersProfile,
    target_profile_id: profileId,
    legs: [
      { direction: 'DELIVER', asset: 'BTC', amount: '0.5' },
      { direction: 'RECEIVE', asset: 'USD', amount: '31250.5' },
    ],
  });
  const own = await call('POST', '/v2/settlement/transactions', {
    source_profile_id: profileId,
    target_profile_id: partnersProfile,
    legs: [{ direction: 'DELIVER', asset: 'BTC', amount: '900' }],
  });
  await partner.call('PUT', `/v2/settlement/transactions/${own.id}/affirm`);
  await call('POST', '/v2/settlement/transactions', {
    source_profile_id: profileId,
    target_profile_id: partnersProfile,
    legs: [
      { direction: 'DELIVER', asset: 'USD', amount: '1000' },
      { direction: 'RECEIVE', asset: 'BTC', amount: '0.015' },
    ],
  });
  const ada = await call('POST', '/v2/identity/identities', {
    type: 'PERSON',
    person_details: { first_name: 'Ada', last_name: 'Lind' },
  });
  const firm = await call('POST', '/v2/identity/identities', {
    type: 'INSTITUTION',
    institution_details: { name: 'Lind & Partners' },
  });
  const custody = await call('POST', '/v2/identity/accounts', {
    account: { identity_id: firm.id, type: 'CUSTODY' },
    create_profile: true,
  });
  await call('POST', '/v2/identity/account-members', {
    account_id: custody.id,
    members: [{ identity_id: ada.id, roles: ['AUTHORIZED_USER'] }],
  });
  await call('POST', '/v2/transfer/deposit-addresses', { profile_id: profileId, crypto_network: 'BITCOIN' });
  await call('POST', '/v2/destinations', { destination: `BITCOIN/${BITCOIN}`, label: 'Cold storage' });
  return {
    call,
    partner,
    partnersProfile,
    desk,
    account,
    held,
    stuck,
    offer: offer.body,
    custody,
    ada,
    firm,
  };
}
