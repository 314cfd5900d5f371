import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import {
  balanceOf,
  createAccount,
  createIdentity,
  describeMetadata,
  describeRefIdShape,
  disableProfile,
  expectCommonRefusals,
  expectNothingWritten,
} from '../support/transfers.ts';

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let profile: string;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
  profile = await service.createProfile(alice);
});
afterAll(() => service.stop());

const WAYS = [
  {
    path: '/v2/transfer/deposit-addresses',
    scope: 'transfer:write_deposit_address',
    own: { crypto_network: 'BITCOIN' },
    other: { crypto_network: 'LITECOIN' },
    field: 'crypto_network',
  },
  {
    path: '/v2/transfer/fiat-deposit-instructions',
    scope: 'transfer:write_fiat_deposit_instructions',
    own: { fiat_network: 'WIRE' },
    other: { fiat_network: 'CUBIX' },
    field: 'fiat_network',
  },
] as const;

describe.each(WAYS)('POST $path', ({ path, scope, own, other, field }) => {
  const create = (changes: object = {}): Promise<Answer> =>
    alice.call('POST', path, { profile_id: profile, ...own, ...changes });
  const refused = (changes: object): Promise<Answer> => expectNothingWritten(service, () => create(changes));

  it('is created once per ref_id, and listed', async () => {
    const body = { ref_id: `once ${field}`, metadata: { a: '1' } };
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(body)));
    const [first] = answers;
    for (const answer of answers) expect(answer.body).toEqual(first!.body);
    expect(answers.filter((answer) => answer.headers.get('idempotent-replayed') === null)).toHaveLength(1);
    const differs = expectProblem(await create({ ...body, ...other }), 409, 'already-exists');
    expect(differs).toEqual({ existing: first!.body, differs: [field] });
    const listed = await alice.call('GET', `${path}?ref_ids=${encodeURIComponent(body.ref_id)}`);
    expect(listed.body.items).toEqual([first!.body]);
    expect((await bob.call('GET', path)).body.items).toEqual([]);
    const page = await alice.call('GET', `${path}?limit=1&order=ASC`);
    expect(page.body.items).toHaveLength(1);
  });

  it('is for an active profile of the caller and one of the caller’s end users', async () => {
    expectProblem(await refused({ profile_id: newId() }), 404, 'not-found');
    expectProblem(await refused({ profile_id: await service.createProfile(bob) }), 404, 'not-found');
    const disabled = await service.createProfile(alice);
    await disableProfile(service, disabled);
    expectProblem(await refused({ profile_id: disabled }), 403, 'forbidden');
    const foreign = await createIdentity(service, bob);
    expectProblem(await refused({ identity_id: foreign }), 404, 'not-found');
    const identity = await createIdentity(service, alice);
    const account = await createAccount(service, alice, identity);
    const actor = { identity_id: identity, account_id: account };
    expect((await create(actor)).body).toMatchObject(actor);
    const third = await service.createCustomer({ integration: 'THIRD_PARTY' });
    const theirs = { profile_id: await service.createProfile(third), ...own };
    expectInvalid(await third.call('POST', path, theirs), '/identity_id', '/account_id');
  });

  it('validates its fields', async () => {
    expectInvalid(await refused({ [field]: 'TRON' }), `/${field}`);
    expectInvalid(await refused({ [field]: undefined }), `/${field}`);
    expectInvalid(await refused({ asset: 'BTC' }), '/asset');
  });

  describeMetadata('metadata', create, refused);
  describeRefIdShape(
    (changes) => create(changes),
    (changes) => refused(changes),
  );

  it('refuses malformed requests', async () => {
    const weak = await service.createCustomer({ scopes: ['transfer:read_transfer'] });
    expectProblem(await weak.call('POST', path, { profile_id: profile, ...own }), 403, 'insufficient-scope');
    expectProblem(await weak.call('GET', path), 403, 'insufficient-scope');
    expect(scope).toMatch(/^transfer:write_/);
  });
});

describe('deposits', () => {
  it.each(NETWORKS.cryptoNetworks)('arrive at a valid address of their own on %s', async (network) => {
    const asset = {
      BITCOIN: 'BTC',
      BITCOIN_CASH: 'BCH',
      LITECOIN: 'LTC',
      SOLANA: 'SOL',
      POLYGON_POS: 'POL',
    }[network as string];
    const own = await service.createProfile(alice);
    const way = await alice.call('POST', '/v2/transfer/deposit-addresses', {
      profile_id: own,
      crypto_network: network,
      metadata: { user: '7' },
    });
    expect(NETWORKS.addressFault(network, way.body.address)).toBeUndefined();
    const body = { crypto_network: network, address: way.body.address, asset: asset ?? 'ETH', amount: '2' };
    const { body: answer } = await alice.call('POST', '/v2/sandbox/crypto-deposits', body);
    expect(answer.transfer).toMatchObject({
      type: 'CRYPTO_DEPOSIT',
      status: 'COMPLETED',
      direction: 'CREDIT',
      metadata: { user: '7' },
      destination_address: way.body.address,
      amount: '2',
      total: '2',
    });
    expect(await balanceOf(service, own, asset ?? 'ETH')).toEqual({ available: '2', held: '0' });
    const read = await alice.call('GET', `/v2/transfer/transfers/${answer.transfer.id}`);
    expect(read.body).toEqual(answer.transfer);
  });

  it('arrive by bank with the memo_id, and once per reference', async () => {
    const own = await service.createProfile(alice);
    const way = await alice.call('POST', '/v2/transfer/fiat-deposit-instructions', {
      profile_id: own,
      fiat_network: 'CUBIX',
    });
    expect(way.body).toMatchObject({
      fiat_network: 'CUBIX',
      memo_id: expect.stringMatching(/^[0-9A-Z]{12}$/),
      fiat_network_instructions: { cubix: { account_id: 'FERRY-SANDBOX' } },
    });
    const body = { fiat_network: 'CUBIX', memo_id: way.body.memo_id, amount: '10.5', reference: newId() };
    const first = await alice.call('POST', '/v2/sandbox/fiat-deposits', body);
    expect(first.body.transfer).toMatchObject({ type: 'CUBIX_DEPOSIT', total: '10.5' });
    const second = await alice.call('POST', '/v2/sandbox/fiat-deposits', body);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    const other = await alice.call('POST', '/v2/sandbox/fiat-deposits', { ...body, amount: '11' });
    expect(expectProblem(other, 409, 'already-exists').existing).toEqual(first.body);
    expect(await balanceOf(service, own, 'USD')).toEqual({ available: '10.5', held: '0' });
  });

  it('cannot be simulated to another customer’s address', async () => {
    const theirs = await bob.call('POST', '/v2/transfer/deposit-addresses', {
      profile_id: await service.createProfile(bob),
      crypto_network: 'BASE',
    });
    const body = { crypto_network: 'BASE', address: theirs.body.address, asset: 'ETH', amount: '1' };
    expectProblem(await alice.call('POST', '/v2/sandbox/crypto-deposits', body), 404, 'not-found');
  });

  it('of one customer are not shown to another customer who names the same output', async () => {
    const theirs = await bob.call('POST', '/v2/transfer/deposit-addresses', {
      profile_id: await service.createProfile(bob),
      crypto_network: 'BITCOIN',
    });
    const output = { crypto_network: 'BITCOIN', asset: 'BTC', tx_hash: 'ab'.repeat(32), tx_index: '0' };
    const paid = { ...output, address: theirs.body.address, amount: '2' };
    const { body } = await bob.call('POST', '/v2/sandbox/crypto-deposits', paid);
    const nobodys = { ...output, address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', amount: '1' };
    const answer = await alice.call('POST', '/v2/sandbox/crypto-deposits', nobodys);
    expect(expectProblem(answer, 409, 'already-exists')).toEqual({ differs: ['amount_units', 'sent_to'] });
    expect(JSON.stringify(answer.body)).not.toContain(body.transfer.profile_id);
    const again = await bob.call('POST', '/v2/sandbox/crypto-deposits', { ...paid, amount: '3' });
    expect(expectProblem(again, 409, 'already-exists').existing).toEqual(body);
  });

  it('have one canonical number per output', async () => {
    const own = await service.createProfile(alice);
    const way = await alice.call('POST', '/v2/transfer/deposit-addresses', {
      profile_id: own,
      crypto_network: 'BITCOIN',
    });
    const output = { crypto_network: 'BITCOIN', address: way.body.address, asset: 'BTC', amount: '1' };
    const send = (changes: object) =>
      alice.call('POST', '/v2/sandbox/crypto-deposits', { ...output, tx_hash: 'cd'.repeat(32), ...changes });
    expect((await send({ tx_index: '1' })).body.transfer.crypto_tx_index).toBe('1');
    for (const tx_index of ['01', '-1', '1.0', '1e0', '+1', '4294967296', way.body.address, 'x']) {
      expectInvalid(await send({ tx_index }), '/tx_index');
    }
    expect(await balanceOf(service, own, 'BTC')).toEqual({ available: '1', held: '0' });
    const first = await send({});
    expect(first.body.transfer.crypto_tx_index).toBe('0');
    expect((await send({})).body).toEqual(first.body);
    expect((await send({ tx_index: '0' })).headers.get('idempotent-replayed')).toBe('true');
    expect(await balanceOf(service, own, 'BTC')).toEqual({ available: '2', held: '0' });
  });

  it('on a network without numbered outputs are distinguished by address, or by a number', async () => {
    const own = await service.createProfile(alice);
    const way = await alice.call('POST', '/v2/transfer/deposit-addresses', {
      profile_id: own,
      crypto_network: 'ETHEREUM',
    });
    const { address } = way.body;
    const send = (tx_hash: string, tx_index?: string) =>
      alice.call('POST', '/v2/sandbox/crypto-deposits', {
        crypto_network: 'ETHEREUM',
        address,
        asset: 'ETH',
        amount: '1',
        tx_hash,
        ...(tx_index !== undefined && { tx_index }),
      });
    const whole = await send('0xaa');
    expect(whole.body.transfer.crypto_tx_index).toBe(address);
    expect((await send('0xaa', address.toLowerCase())).body).toEqual(whole.body);
    expect(expectProblem(await send('0xaa', '3'), 409, 'already-exists').differs).toEqual(['output']);
    expectInvalid(await send('0xaa', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'), '/tx_index');
    expect((await send('0xbb', '3')).body.transfer.crypto_tx_index).toBe('3');
    expectProblem(await send('0xbb'), 409, 'already-exists');
    expect(await balanceOf(service, own, 'ETH')).toEqual({ available: '2', held: '0' });
  });

  it('with the same reference at two accounts of the operator are two deposits', async () => {
    const own = await service.createProfile(alice);
    const way = await alice.call('POST', '/v2/transfer/fiat-deposit-instructions', {
      profile_id: own,
      fiat_network: 'WIRE',
    });
    const body = { fiat_network: 'WIRE', memo_id: way.body.memo_id, amount: '10', reference: 'N-1' };
    const send = (changes: object) =>
      alice.call('POST', '/v2/sandbox/fiat-deposits', { ...body, ...changes });
    const first = await send({ account: 'bank-a' });
    const second = await send({ account: 'bank-b' });
    expect(second.body.transfer.id).not.toBe(first.body.transfer.id);
    expect((await send({ account: 'bank-a' })).body).toEqual(first.body);
    expect((await send({})).body.transfer.id).not.toBe(first.body.transfer.id);
    expect(await balanceOf(service, own, 'USD')).toEqual({ available: '30', held: '0' });
  });

  it('without an owner are kept, listed for operators, and credited once by an operator', async () => {
    const body = { fiat_network: 'WIRE', memo_id: 'who knows', amount: '99', reference: newId() };
    const kept = await alice.call('POST', '/v2/sandbox/fiat-deposits', body);
    const { suspense_deposit: suspense } = kept.body;
    expect(suspense).toMatchObject({ rail: 'wire', amount: '99', asset: 'USD', sent_to: 'who knows' });
    const listed = await alice.call('GET', '/v2/operator/suspense-deposits');
    expect(listed.body.items).toEqual([suspense]);
    const own = await service.createProfile(bob);
    const credit = () =>
      alice.call('POST', `/v2/operator/suspense-deposits/${suspense.id}/credit`, { profile_id: own });
    const answers = await Promise.all([credit(), credit(), credit()]);
    const done = answers.filter(({ status }) => status === 200);
    expect(done).toHaveLength(1);
    expect(done[0]!.body).toMatchObject({ type: 'WIRE_DEPOSIT', total: '99', customer_id: bob.id });
    for (const answer of answers) if (answer.status !== 200) expectProblem(answer, 409, 'invalid-state');
    expect(await balanceOf(service, own, 'USD')).toEqual({ available: '99', held: '0' });
    const after = await alice.call('GET', '/v2/operator/suspense-deposits');
    expect(after.body.items).toEqual([{ ...suspense, transfer_id: done[0]!.body.id }]);
    const weak = await service.createCustomer({ scopes: ['transfer:read_transfer'] });
    expectProblem(await weak.call('GET', '/v2/operator/suspense-deposits'), 403, 'insufficient-scope');
  });

  it('are simulated only with valid fields', async () => {
    const base = { crypto_network: 'BITCOIN', address: 'x', asset: 'BTC', amount: '1' };
    const send = (changes: object) =>
      expectNothingWritten(service, () =>
        alice.call('POST', '/v2/sandbox/crypto-deposits', { ...base, ...changes }),
      );
    expectInvalid(await send({ asset: 'ETH' }), '/crypto_network');
    expectInvalid(await send({ asset: 'DOGE' }), '/asset');
    expectInvalid(await send({ amount: '0' }), '/amount');
    expectProblem(await send({ amount: '0.000000001' }), 400, 'exceeds-precision');
    await expectCommonRefusals(service, '/v2/sandbox/crypto-deposits', 'sandbox:simulate', base);
    const fiat = { fiat_network: 'WIRE', memo_id: 'x', amount: '1' };
    await expectCommonRefusals(service, '/v2/sandbox/fiat-deposits', 'sandbox:simulate', fiat);
  });
});
