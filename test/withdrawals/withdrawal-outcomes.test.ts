import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { eventsOf } from '../support/events.ts';
import { PRODUCTION } from '../support/production.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import { balanceOf, createFiatAccount, expectNothingWritten } from '../support/transfers.ts';

const BITCOIN = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
});
afterAll(() => service.stop());

async function withdrawn(own: TestService = service, customer = alice, fields: object = {}) {
  const profile = await own.createProfile(customer, { BTC: '2', SOL: '2' });
  const answer = await customer.call('POST', '/v2/transfer/crypto-withdrawals', {
    profile_id: profile,
    destination_address: BITCOIN,
    asset: 'BTC',
    crypto_network: 'BITCOIN',
    amount: '1',
    ...fields,
  });
  expect(answer.status).toBe(200);
  return { profile, id: answer.body.id as string };
}

const decide = (id: string, verb: 'complete' | 'fail', who = alice): Promise<Answer> =>
  who.call('POST', `/v2/sandbox/transfers/${id}/${verb}`);

describe('the user of the sandbox', () => {
  it('completes a withdrawal: the held amount leaves the profile', async () => {
    const { profile, id } = await withdrawn();
    const answer = await decide(id, 'complete');
    expect(answer.body).toMatchObject({
      id,
      status: 'COMPLETED',
      crypto_tx_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      crypto_tx_index: expect.stringMatching(/^[01]$/),
      secondary_status: { name: 'PAID' },
    });
    expect(await balanceOf(service, profile, 'BTC')).toEqual({ available: '0.9999', held: '0' });
    const read = await alice.call('GET', `/v2/transfer/transfers/${id}`);
    expect(read.body).toEqual(answer.body);
    const found = await alice.call(
      'GET',
      `/v2/transfer/transfers?crypto_tx_hashes=${answer.body.crypto_tx_hash}`,
    );
    expect(found.body.items).toEqual([answer.body]);
  });

  it('fails one: its whole total returns', async () => {
    const { profile, id } = await withdrawn();
    const answer = await decide(id, 'fail');
    expect(answer.body).toMatchObject({ status: 'FAILED', secondary_status: { name: 'FAILED_BY_RAIL' } });
    expect(await balanceOf(service, profile, 'BTC')).toEqual({ available: '2', held: '0' });
    const events = await eventsOf(service.database, id);
    expect(events.map(({ type }) => type)).toEqual([
      'transfer.crypto_withdrawal.pending',
      'transfer.crypto_withdrawal.failed',
    ]);
    expect(events[1]!.resource).toEqual(answer.body);
  });

  it('ends each withdrawal once, whatever happens at the same time', async () => {
    const { profile, id } = await withdrawn();
    const verbs = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'complete' : 'fail'));
    const answers = await Promise.all(verbs.map((verb) => decide(id, verb)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expectProblem(answer, 409, 'invalid-state');
    const { held } = await balanceOf(service, profile, 'BTC');
    expect(held).toBe('0');
  });

  it('can end only its own pending withdrawals', async () => {
    const { id } = await withdrawn();
    expectProblem(await decide(id, 'fail', bob), 404, 'not-found');
    expectProblem(await decide(newId(), 'complete'), 404, 'not-found');
    const profile = await service.createProfile(alice);
    const deposit = await alice.call('POST', `/v2/sandbox/profiles/${profile}/deposit`, {
      asset: 'USD',
      amount: '1',
    });
    const meta = expectProblem(await decide(deposit.body.id, 'fail'), 409, 'invalid-state');
    expect(meta).toEqual({ status: 'COMPLETED' });
    const weak = await service.createCustomer({ scopes: ['transfer:read_transfer'] });
    expectProblem(await decide(id, 'fail', weak), 403, 'insufficient-scope');
  });
});

describe('nothing is held and nothing is written', () => {
  const base = { destination_address: BITCOIN, asset: 'BTC', crypto_network: 'BITCOIN', amount: '1' };
  let profile: string;
  beforeAll(async () => {
    profile = await service.createProfile(alice, { BTC: '10', ETH: '10', USD: '1000', LTC: '10' });
  });
  const crypto = (changes: object) =>
    expectNothingWritten(service, () =>
      alice.call('POST', '/v2/transfer/crypto-withdrawals', { ...base, profile_id: profile, ...changes }),
    );
  const fiat = (changes: object) =>
    expectNothingWritten(service, () =>
      alice.call('POST', '/v2/transfer/fiat-withdrawals', { asset: 'USD', profile_id: profile, ...changes }),
    );

  it('for a total equal to the fee or below it', async () => {
    for (const total of ['0.0001', '0.00009999']) {
      expectInvalid(await crypto({ amount: undefined, total }), '/total');
    }
    const wire = await createFiatAccount(service, alice, 'wire');
    for (const total of ['20', '19.99'])
      expectInvalid(await fiat({ fiat_account_id: wire, total }), '/total');
  });

  it.each([
    ['wire', 100],
    ['cubix', 40],
    ['bank_network_2', 100],
    ['bank_network_3', 140],
    ['cbit', 500],
  ] as const)('for a memo one over the limit of %s', async (kind, longest) => {
    const account = await createFiatAccount(service, alice, kind);
    const memo = '🚢'.repeat(longest + 1);
    expectInvalid(await fiat({ fiat_account_id: account, amount: '1', memo }), '/memo');
  });

  it('for an asset that is not on the network', async () => {
    const EVM = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
    expectInvalid(await crypto({ crypto_network: 'ETHEREUM', destination_address: EVM }), '/crypto_network');
  });

  it.each([
    ['LTC for BTC', {}, 'ltc1qhdhvrwe6rgqns8fz28tee0hphr5x7ulw5exv4w', 'Litecoin'],
    ['testnet for mainnet', {}, 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'testnet'],
    [
      'bad EIP-55',
      { asset: 'ETH', crypto_network: 'ETHEREUM' },
      '0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      'EIP-55',
    ],
  ])('for an address of the wrong network: %s', async (_title, fields, address, says) => {
    const answer = await crypto({ ...fields, destination_address: address });
    expectInvalid(answer, '/destination_address');
    expect(answer.body.detail).toContain(says);
  });

  it('for a fee_id that has expired, or was used', async () => {
    const request = { ...base, profile_id: undefined };
    const quote = () => alice.call('POST', '/v2/transfer/fees/crypto-withdrawal', request);
    const expired = (await quote()).body.id;
    await service.database.query('update guaranteed_fees set expires_at_ns = 1 where id = $1', [expired]);
    expectProblem(await crypto({ fee_id: expired }), 403, 'fee-expired');
    const used = (await quote()).body.id;
    const body = { ...base, profile_id: profile, fee_id: used };
    expect((await alice.call('POST', '/v2/transfer/crypto-withdrawals', body)).status).toBe(200);
    expectInvalid(await crypto({ fee_id: used }), '/fee_id');
  });
});

describe('with its workers', () => {
  it('the service pays withdrawals by itself', async () => {
    const own = await startTestService({ FERRY_WORKERS: 'on', FERRY_SANDBOX_SPEED: '360' });
    const carol = await own.createCustomer();
    const paid = await withdrawn(own, carol);
    const failed = await withdrawn(own, carol, { amount: '0.66601' });
    // Solana is fast, so it is paid long before the hour (here 10 seconds) after which it is returned.
    const returned = await withdrawn(own, carol, {
      asset: 'SOL',
      crypto_network: 'SOLANA',
      destination_address: 'bc1fEu6D2x5rJRbY9r4SXkXYsW1t2kmwCKQYXfxxxxx',
      memo: 'sandbox:returned',
    });
    const statusOf = async (id: string): Promise<string> =>
      (await carol.call('GET', `/v2/transfer/transfers/${id}`)).body.status;
    await expect.poll(() => statusOf(paid.id)).toBe('COMPLETED');
    await expect.poll(() => statusOf(failed.id)).toBe('FAILED');
    await expect.poll(() => statusOf(returned.id)).toBe('COMPLETED');
    const contradictions = async (): Promise<unknown[]> =>
      (await carol.call('GET', '/v2/operator/rail-contradictions')).body.items;
    await expect.poll(contradictions).toEqual([
      {
        transfer_id: returned.id,
        rail: 'SOLANA',
        reported: 'FAILED',
        recorded: 'COMPLETED',
        detail: expect.stringContaining('returned'),
        created_at: expect.any(String),
      },
    ]);
    await own.stop();
  });
});

it('production has no simulation and no rails: both kinds of withdrawals are refused with the reason', async () => {
  const production = await startTestService(PRODUCTION);
  const carol = await production.createCustomer();
  const profile = await production.createProfile(carol, { BTC: '2', USD: '500' });
  const wire = await createFiatAccount(production, carol, 'wire');
  await expectNothingWritten(production, async () => {
    const crypto = await carol.call('POST', '/v2/transfer/crypto-withdrawals', {
      profile_id: profile,
      destination_address: BITCOIN,
      asset: 'BTC',
      crypto_network: 'BITCOIN',
      amount: '1',
    });
    expectInvalid(crypto, '/crypto_network');
    expect(crypto.body.detail).toContain('no configured rail');
    const fiat = await carol.call('POST', '/v2/transfer/fiat-withdrawals', {
      profile_id: profile,
      fiat_account_id: wire,
      asset: 'USD',
      amount: '1',
    });
    expectInvalid(fiat, '/fiat_account_id');
    expect(fiat.body.detail).toContain('no configured rail');
    const body = { profile_id: profile, crypto_network: 'BITCOIN' };
    expectInvalid(await carol.call('POST', '/v2/transfer/deposit-addresses', body), '/crypto_network');
    const asked = { profile_id: profile, fiat_network: 'WIRE' };
    expectInvalid(await carol.call('POST', '/v2/transfer/fiat-deposit-instructions', asked), '/fiat_network');
    for (const path of [`transfers/${newId()}/fail`, 'crypto-deposits', 'fiat-deposits']) {
      expectProblem(await carol.call('POST', `/v2/sandbox/${path}`, {}), 404, 'not-found');
    }
  });
  await production.stop();
});
