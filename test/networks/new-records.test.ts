import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AddressFamily } from '../../src/networks/addresses.ts';
import { CRYPTO_NETWORK_RECORDS } from '../../src/networks/crypto.ts';
import { EVM_ADDRESSES } from '../../src/networks/evm.ts';
import { FIAT_KIND_RECORDS } from '../../src/networks/fiat.ts';
import { createNetworks, type NetworkRecords } from '../../src/networks/register.ts';
import { expectInvalid, startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { DOGECOIN, DOGECOIN_ADDRESSES, OPTIMISM, RTP } from './records.ts';

/** The three recipes of CONTRIBUTING.md, each carried out on a copy of the register. */

let service: TestService;
afterEach(() => service.stop());

async function startWith(records: Partial<NetworkRecords>): Promise<TestCustomer> {
  const networks = createNetworks({
    crypto: { ...CRYPTO_NETWORK_RECORDS, ...records.crypto },
    fiat: { ...FIAT_KIND_RECORDS, ...records.fiat },
  });
  // So fast that a payment is final when the worker asks about it.
  service = await startTestService({ FERRY_WORKERS: 'on', FERRY_SANDBOX_SPEED: '1000000' }, networks);
  return service.createCustomer();
}

/** Creates the withdrawal over HTTP, and returns it once the worker and the simulated rail have ended it. */
async function paid(customer: TestCustomer, path: string, body: object) {
  const created = await customer.call('POST', path, body);
  expect(created.body).toMatchObject({ status: 'PENDING' });
  const { id } = created.body;
  const deadline = performance.now() + 60_000;
  for (;;) {
    const { body: transfer } = await customer.call('GET', `/v2/transfer/transfers/${id}`);
    if (transfer.status !== 'PENDING') return transfer;
    expect(performance.now()).toBeLessThan(deadline);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const withdraw = (customer: TestCustomer, body: object) =>
  paid(customer, '/v2/transfer/crypto-withdrawals', body);

async function typesOfEvents(customer: TestCustomer): Promise<string[]> {
  const { body } = await customer.call('GET', '/v2/events');
  return body.items.map((one: { type: string }) => one.type);
}

function addressOf(family: AddressFamily): string {
  return family.addressFrom(createHash('sha512').update('payee').digest());
}

describe('a new EVM network is one record', () => {
  it('withdrawals and deposits run on it', async () => {
    const customer = await startWith({ crypto: { OPTIMISM } });
    const profile = await service.createProfile(customer, { ETH: '10' });
    const order = { profile_id: profile, asset: 'ETH', crypto_network: 'OPTIMISM', amount: '1' };
    const payee = addressOf(EVM_ADDRESSES);
    expect(await withdraw(customer, { ...order, destination_address: payee })).toMatchObject({
      status: 'COMPLETED',
      crypto_network: 'OPTIMISM',
      fee: '0.0002',
      crypto_tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      crypto_tx_index: payee,
      secondary_status: { name: 'PAID', detail: '84 confirmations on OPTIMISM.' },
    });
    const wrong = await customer.call('POST', '/v2/transfer/crypto-withdrawals', {
      ...order,
      destination_address: addressOf(CRYPTO_NETWORK_RECORDS.BITCOIN.addresses),
    });
    expectInvalid(wrong, '/destination_address');
    expect(wrong.body.meta.errors[0].message).toBe('is a Bitcoin address, not an Optimism one');

    const way = await customer.call('POST', '/v2/transfer/deposit-addresses', {
      profile_id: profile,
      crypto_network: 'OPTIMISM',
    });
    const arrived = await customer.call('POST', '/v2/sandbox/crypto-deposits', {
      crypto_network: 'OPTIMISM',
      address: way.body.address.toLowerCase(),
      asset: 'ETH',
      amount: '3',
    });
    expect(arrived.body.transfer).toMatchObject({ type: 'CRYPTO_DEPOSIT', total: '3', profile_id: profile });
    const balance = await customer.call('GET', `/v2/profiles/${profile}/balances/ETH`);
    expect(balance.body).toMatchObject({ available: '11.9998', held: '0' });
  });
});

describe('a new UTXO network is one record with its address parameters', () => {
  it('withdrawals and deposits run on it', async () => {
    const customer = await startWith({ crypto: { DOGECOIN } });
    const profile = await service.createProfile(customer, { DOGE: '100' });
    const order = { profile_id: profile, asset: 'DOGE', crypto_network: 'DOGECOIN', total: '42' };
    const payee = addressOf(DOGECOIN_ADDRESSES);
    expect(payee).toMatch(/^D/);
    expect(await withdraw(customer, { ...order, destination_address: payee })).toMatchObject({
      status: 'COMPLETED',
      amount: '40',
      fee: '2',
      crypto_tx_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      crypto_tx_index: expect.stringMatching(/^[01]$/),
    });
    for (const [address, message] of [
      [addressOf(CRYPTO_NETWORK_RECORDS.LITECOIN.addresses), 'is a Litecoin address, not a Dogecoin one'],
      [addressOf(EVM_ADDRESSES), 'is an EVM address, not a Dogecoin one'],
      [`X${payee.slice(1)}`, 'does not begin with D, 9 or A'],
      [`${payee.slice(0, -1)}1`, 'fails its base58 checksum'],
    ] as const) {
      const refused = await customer.call('POST', '/v2/transfer/crypto-withdrawals', {
        ...order,
        destination_address: address,
      });
      expectInvalid(refused, '/destination_address');
      expect(refused.body.meta.errors[0].message).toBe(message);
    }
    const arrived = await customer.call('POST', '/v2/sandbox/crypto-deposits', {
      crypto_network: 'DOGECOIN',
      address: (
        await customer.call('POST', '/v2/transfer/deposit-addresses', {
          profile_id: profile,
          crypto_network: 'DOGECOIN',
        })
      ).body.address,
      asset: 'DOGE',
      amount: '5',
    });
    expect(arrived.body.transfer).toMatchObject({ total: '5', crypto_tx_index: '0', profile_id: profile });
  });
});

describe('a new kind of fiat account is one record and a migration', () => {
  const accountWith = (routingNumber: string) => {
    const { routing_details: routing } = RTP.sandboxInstructions;
    return {
      fiat_account_owner: { person_details: { first_name: 'Ada', last_name: 'Lovelace' } },
      fiat_network_instructions: {
        rtp: {
          account_number: '123456789',
          routing_details: { ...routing, routing_number: routingNumber },
        },
      },
    };
  };

  async function startWithRtp(): Promise<TestCustomer> {
    const customer = await startWith({ fiat: { rtp: RTP } });
    // The migration.
    for (const table of ['fiat_accounts', 'fiat_deposit_instructions']) {
      await service.database.query(`alter table ${table} drop constraint ${table}_kind_check`);
      await service.database.query(
        `alter table ${table} add check (kind in ('wire', 'cubix', 'bank_network_2', 'bank_network_3', 'cbit', 'rtp'))`,
      );
    }
    return customer;
  }

  it('accounts are registered, checked and masked; withdrawals and deposits run on it', async () => {
    const customer = await startWithRtp();
    const profile = await service.createProfile(customer, { USD: '1000' });
    const registered = await customer.call('POST', '/v2/transfer/fiat-accounts', accountWith('021000021'));
    expect(registered.body.fiat_network_instructions).toEqual({
      rtp: { ...RTP.sandboxInstructions, account_number: '****6789' },
    });
    const order = { profile_id: profile, fiat_account_id: registered.body.id, asset: 'USD', amount: '10' };
    const path = '/v2/transfer/fiat-withdrawals';
    expectInvalid(await customer.call('POST', path, { ...order, memo: '12345678' }), '/memo');
    expect(await paid(customer, path, { ...order, memo: '1234567' })).toMatchObject({
      status: 'COMPLETED',
      type: 'RTP_WITHDRAWAL',
      total: '10.5',
      secondary_status: { name: 'PAID', detail: 'Paid by the rtp rail.' },
    });
    const way = await customer.call('POST', '/v2/transfer/fiat-deposit-instructions', {
      profile_id: profile,
      fiat_network: 'RTP',
    });
    expect(way.body.fiat_network_instructions).toEqual({ rtp: RTP.sandboxInstructions });
    const arrived = await customer.call('POST', '/v2/sandbox/fiat-deposits', {
      fiat_network: 'RTP',
      memo_id: way.body.memo_id,
      amount: '7',
    });
    expect(arrived.body.transfer).toMatchObject({ type: 'RTP_DEPOSIT', total: '7', profile_id: profile });
    // Events reach the feed a moment after the change.
    await vi.waitFor(async () => {
      const types = await typesOfEvents(customer);
      expect(types).toContain('transfer.rtp_withdrawal.completed');
      expect(types).toContain('transfer.rtp_deposit.completed');
    }, 30_000);
    const { body } = await customer.call('GET', '/v2/transfer/transfers?type=RTP_DEPOSIT');
    expect(body.items).toHaveLength(1);
  });

  it('fields that it shares with other kinds are checked in the same way', async () => {
    const customer = await startWithRtp();
    const refused = await customer.call('POST', '/v2/transfer/fiat-accounts', accountWith('123'));
    expectInvalid(refused, '/fiat_network_instructions/rtp/routing_details/routing_number');
    const wrongDigit = await customer.call('POST', '/v2/transfer/fiat-accounts', accountWith('021000022'));
    const { id } = wrongDigit.body;
    const rejected = await customer.call('GET', `/v2/transfer/fiat-accounts/${id}`);
    expect(rejected.body.status).toBe('REJECTED');
  });
});
