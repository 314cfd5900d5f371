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
import {
  BAD_AMOUNTS,
  balanceOf,
  createAccount,
  createIdentity,
  describeMetadata,
  describeRefIdShape,
  disableProfile,
  expectCommonRefusals,
  expectNamed,
  expectNothingWritten,
  expectOneOfFifty,
  expectOneOfFiftyDifferent,
  NOT_TEXT,
  rawBody,
} from '../support/transfers.ts';

const PATH = '/v2/transfer/crypto-withdrawals';
const BITCOIN = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const EVM = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const SOLANA = 'bc1fEu6D2x5rJRbY9r4SXkXYsW1t2kmwCKQYXfxxxxx';

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let profile: string;
let base: Record<string, unknown>;

beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
  const rich = ['BTC', 'BCH', 'LTC', 'ETH', 'SOL', 'POL', 'USDC', 'PUSD', 'USD'];
  profile = await service.createProfile(alice, Object.fromEntries(rich.map((asset) => [asset, '1000'])));
  base = {
    profile_id: profile,
    destination_address: BITCOIN,
    asset: 'BTC',
    crypto_network: 'BITCOIN',
    amount: '0.5',
  };
});
afterAll(() => service.stop());

const withdraw = (changes: object = {}): Promise<Answer> => alice.call('POST', PATH, { ...base, ...changes });
const refused = (changes: object): Promise<Answer> => expectNothingWritten(service, () => withdraw(changes));

describe('an accepted request', () => {
  it('answers with the whole transfer, holds its total and appends its event', async () => {
    const own = await service.createProfile(alice, { BTC: '2' });
    const identity = await createIdentity(service, alice);
    const account = await createAccount(service, alice, identity);
    const beneficiary = { person_details: { first_name: 'Ada', last_name: 'Lindqvist' } };
    const answer = await withdraw({
      profile_id: own,
      ref_id: 'whole',
      amount: '0.50',
      identity_id: identity,
      account_id: account,
      metadata: { order: '7' },
      memo: 'Invoice 7',
      beneficiary,
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      customer_id: alice.id,
      profile_id: own,
      amount: '0.5',
      total: '0.5001',
      fee: '0.0001',
      asset: 'BTC',
      balance_asset: 'BTC',
      direction: 'DEBIT',
      type: 'CRYPTO_WITHDRAWAL',
      status: 'PENDING',
      created_at: expect.stringMatching(/Z$/),
      updated_at: answer.body.created_at,
      identity_id: identity,
      account_id: account,
      ref_id: 'whole',
      metadata: { order: '7' },
      memo: 'Invoice 7',
      destination_address: BITCOIN,
      crypto_network: 'BITCOIN',
      auto_conversion: {},
      notional_value: '32506.5',
      secondary_status: { name: 'QUEUED', detail: expect.any(String) },
    });
    expect(await balanceOf(service, own, 'BTC')).toEqual({ available: '1.4999', held: '0.5001' });
    const read = await alice.call('GET', `/v2/transfer/transfers/${answer.body.id}`);
    expect(read.body).toEqual(answer.body);
    expect(await eventsOf(service.database, answer.body.id)).toEqual([
      { customer_id: alice.id, type: 'transfer.crypto_withdrawal.pending', resource: answer.body },
    ]);
    const { id } = answer.body;
    const select = 'select beneficiary as sealed from transfers where id = $1';
    const [kept] = await service.database.query<{ sealed: string }>(select, [id]);
    const opened = service.database.vault().open(kept!.sealed, `transfers.beneficiary:${id}`);
    expect(JSON.parse(opened)).toEqual(beneficiary);
  });

  it('takes the fee out of a total', async () => {
    const answer = await withdraw({ amount: undefined, total: '0.00010001' });
    expect(answer.body).toMatchObject({ amount: '0.00000001', fee: '0.0001', total: '0.00010001' });
  });

  const networks: [string, string, string, string][] = [
    ['BITCOIN', 'BTC', BITCOIN, '0.0001'],
    ['BITCOIN_CASH', 'BCH', 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a', '0.0001'],
    ['LITECOIN', 'LTC', 'ltc1qhdhvrwe6rgqns8fz28tee0hphr5x7ulw5exv4w', '0.001'],
    ['ETHEREUM', 'ETH', EVM, '0.001'],
    ['BASE', 'ETH', EVM, '0.0001'],
    ['ARBITRUM_ONE', 'ETH', EVM, '0.0001'],
    ['INK', 'ETH', EVM, '0.0001'],
    ['SOLANA', 'SOL', SOLANA, '0.001'],
    ['POLYGON_POS', 'POL', EVM, '0.1'],
    ['ETHEREUM', 'USDC', EVM, '2'],
    ['SOLANA', 'USDC', SOLANA, '0.5'],
    ['POLYGON_POS', 'USDC', EVM, '0.1'],
    ['SOLANA', 'PUSD', SOLANA, '0.5'],
  ];
  it.each(networks)('is paid over %s in %s', async (network, asset, address, fee) => {
    const answer = await withdraw({ asset, crypto_network: network, destination_address: address });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ asset, crypto_network: network, destination_address: address, fee });
  });

  it('rounds the notional value of amount and fee half to even', async () => {
    const notionalOf = async (amount: string): Promise<string> =>
      (await withdraw({ asset: 'PUSD', crypto_network: 'BASE', destination_address: EVM, amount })).body
        .notional_value;
    expect(await notionalOf('1.005')).toBe('1.1');
    expect(await notionalOf('1.015')).toBe('1.12');
    expect(await notionalOf('1.015001')).toBe('1.12');
    expect(await notionalOf('1.005001')).toBe('1.11');
  });
});

describe('fields', () => {
  it.each(['profile_id', 'destination_address', 'asset', 'crypto_network'])(
    '%s is required',
    async (field) => {
      expectInvalid(await refused({ [field]: undefined }), `/${field}`);
    },
  );

  const ids = ['profile_id', 'identity_id', 'account_id', 'fee_id'];
  const names = ['destination_address', 'asset', 'crypto_network', 'ref_id', 'balance_asset', 'memo'];
  it.each([...ids, ...names])('%s must be text', async (field) => {
    for (const value of NOT_TEXT) expectInvalid(await refused({ [field]: value }), `/${field}`);
  });

  it.each(ids)('%s must be an id', async (field) => {
    for (const value of ['', 'x', newId().toUpperCase(), `${newId()} `]) {
      expectInvalid(await refused({ [field]: value }), `/${field}`);
    }
  });

  it('requires a known asset', async () => {
    for (const asset of ['DOGE', 'btc', '']) expectInvalid(await refused({ asset }), '/asset');
    expectInvalid(await refused({ asset: 'USD' }), '/asset');
  });

  it('requires a known network that carries the asset', async () => {
    for (const network of ['bitcoin', 'TRON', '']) {
      expectInvalid(await refused({ crypto_network: network }), '/crypto_network');
    }
    const change = { asset: 'BTC', crypto_network: 'ETHEREUM', destination_address: EVM };
    expectInvalid(await refused(change), '/crypto_network');
    expectInvalid(await refused({ ...change, asset: 'PUSD', crypto_network: 'INK' }), '/crypto_network');
  });

  it.each([
    ['is empty', 'BITCOIN', ''],
    ['has a wrong checksum', 'BITCOIN', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5'],
    ['is one of another network', 'BITCOIN', 'ltc1qhdhvrwe6rgqns8fz28tee0hphr5x7ulw5exv4w'],
    ['is an EVM address with a wrong EIP-55 case', 'ETHEREUM', '0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['is the zero address', 'ETHEREUM', '0x0000000000000000000000000000000000000000'],
    ['is too long', 'BITCOIN', 'x'.repeat(10_000)],
  ])('refuses an address that %s', async (_title, network, address) => {
    const asset = network === 'BITCOIN' ? 'BTC' : 'ETH';
    const answer = await refused({ asset, crypto_network: network, destination_address: address });
    expectInvalid(answer, '/destination_address');
    if (address !== '') expect(JSON.stringify(answer.body)).not.toContain(address);
  });

  it("refuses the contract of a token as that token's destination", async () => {
    const contract = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
    const change = { asset: 'USDC', crypto_network: 'ETHEREUM' };
    for (const address of [contract, contract.toLowerCase()]) {
      expectInvalid(await refused({ ...change, destination_address: address }), '/destination_address');
    }
  });

  it.each(BAD_AMOUNTS)('%s is neither a valid amount nor a valid total', async (json) => {
    const send = (body: object, field: string) =>
      expectNothingWritten(service, () => alice.call('POST', PATH, rawBody(body, field, json)));
    expectNamed(await send(base, 'amount'), '/amount');
    expectNamed(await send({ ...base, amount: undefined }, 'total'), '/total');
  });

  it('never rounds: more decimals than the asset has are refused, and the allowed number is named', async () => {
    const answer = await refused({ amount: '0.123456789' });
    expect(expectProblem(answer, 400, 'exceeds-precision')).toMatchObject({ asset: 'BTC', max_decimals: 8 });
  });

  it('keeps all 18 decimals of an amount', async () => {
    const amount = '1.000000000000000001';
    const change = { asset: 'ETH', crypto_network: 'ETHEREUM', destination_address: EVM, amount };
    expect((await withdraw(change)).body).toMatchObject({ amount, total: '1.001000000000000001' });
  });

  it('requires exactly one of amount and total', async () => {
    expectInvalid(await refused({ total: '0.6' }), '/amount', '/total');
    expectInvalid(await refused({ amount: undefined }), '/amount', '/total');
  });

  it('refuses a total that the fee consumes', async () => {
    for (const total of ['0.0001', '0.00009999']) {
      expectInvalid(await refused({ amount: undefined, total }), '/total');
    }
  });

  it('accepts a memo of 500 characters and refuses one of 501', async () => {
    const memo = '🚢'.repeat(500);
    expect((await withdraw({ memo })).body.memo).toBe(memo);
    expectInvalid(await refused({ memo: `${memo}x` }), '/memo');
  });

  describeMetadata('metadata', withdraw, refused);
  describeRefIdShape(withdraw, refused);

  it('accepts a person or an institution as beneficiary, and never shows it', async () => {
    const institution = { institution_details: { name: 'Å'.repeat(200) } };
    const answer = await withdraw({ beneficiary: institution });
    expect(answer.status).toBe(200);
    expect(answer.body).not.toHaveProperty('beneficiary');
    const person = { person_details: { first_name: 'Ada', last_name: 'Lind' } };
    const cases: [unknown, string][] = [
      [null, '/beneficiary'],
      ['Ada', '/beneficiary'],
      [{}, '/beneficiary'],
      [{ ...person, ...institution }, '/beneficiary'],
      [{ name: 'Ada' }, '/beneficiary/name'],
      [{ person_details: { first_name: 'Ada' } }, '/beneficiary/person_details/last_name'],
      [{ institution_details: { name: '' } }, '/beneficiary/institution_details/name'],
      [{ institution_details: { name: 'x'.repeat(201) } }, '/beneficiary/institution_details/name'],
      [{ institution_details: { name: null } }, '/beneficiary/institution_details/name'],
    ];
    for (const [beneficiary, pointer] of cases) expectInvalid(await refused({ beneficiary }), pointer);
  });

  it('reports an unknown field together with all other errors', async () => {
    const body = { asset: 'BTC', amount: 25, fiat_account_id: newId(), crypto_network: 'BITCOIN' };
    const answer = await expectNothingWritten(service, () => alice.call('POST', PATH, body));
    expectInvalid(answer, '/profile_id', '/destination_address', '/amount', '/fiat_account_id');
  });
});

describe('the balance that is debited', () => {
  const stablecoin = { asset: 'PUSD', crypto_network: 'SOLANA', destination_address: SOLANA };

  it("is USD, one to one, when the operator's stablecoin is bought with it", async () => {
    const own = await service.createProfile(alice, { USD: '100', PUSD: '1' });
    const answer = await withdraw({ ...stablecoin, profile_id: own, amount: '10.25', balance_asset: 'USD' });
    expect(answer.body).toMatchObject({
      asset: 'PUSD',
      balance_asset: 'USD',
      amount: '10.25',
      fee: '0.5',
      total: '10.75',
      notional_value: '10.75',
    });
    expect(await balanceOf(service, own, 'USD')).toEqual({ available: '89.25', held: '10.75' });
    expect(await balanceOf(service, own, 'PUSD')).toEqual({ available: '1', held: '0' });
  });

  it('is the stablecoin itself when the request names it, as without the field', async () => {
    const first = await withdraw({ ...stablecoin, balance_asset: 'PUSD', ref_id: 'said' });
    const second = await withdraw({ ...stablecoin, ref_id: 'said' });
    expect(first.body.balance_asset).toBe('PUSD');
    expect(second.body).toEqual(first.body);
  });

  it('must be able to express the total', async () => {
    for (const given of [{ amount: '10.255' }, { amount: undefined, total: '10.255' }]) {
      const answer = await refused({ ...stablecoin, ...given, balance_asset: 'USD' });
      const meta = expectProblem(answer, 400, 'exceeds-precision');
      expect(meta).toMatchObject({ asset: 'USD', max_decimals: 2 });
      expect(meta.errors[0].pointer).toBe('total' in given ? '/total' : '/amount');
    }
  });

  it('must cover the total', async () => {
    const own = await service.createProfile(alice, { USD: '10.49', PUSD: '100' });
    const change = { ...stablecoin, profile_id: own, amount: '10', balance_asset: 'USD' };
    const meta = expectProblem(await refused(change), 403, 'insufficient-funds');
    expect(meta).toEqual({ profile_id: own, asset: 'USD', available: '10.49', needed: '10.5' });
  });

  it('cannot be chosen for other assets, nor be any other asset', async () => {
    expectInvalid(await refused({ balance_asset: 'USD' }), '/balance_asset');
    expectInvalid(await refused({ balance_asset: 'BTC' }), '/balance_asset');
    for (const asset of ['USDC', 'BTC', 'EUR']) {
      expectInvalid(await refused({ ...stablecoin, balance_asset: asset }), '/balance_asset');
    }
  });
});

describe('ownership', () => {
  it('answers 404 for an unknown profile and for that of another customer', async () => {
    for (const id of [newId(), await service.createProfile(bob, { BTC: '5' })]) {
      const meta = expectProblem(await refused({ profile_id: id }), 404, 'not-found');
      expect(meta).toEqual({ resource: 'profile', id });
    }
  });

  it('refuses a disabled profile', async () => {
    const own = await service.createProfile(alice, { BTC: '5' });
    await disableProfile(service, own);
    expect(expectProblem(await refused({ profile_id: own }), 403, 'forbidden')).toEqual({ profile_id: own });
  });

  it('checks the identity and the account for which it is made', async () => {
    const identity = await createIdentity(service, alice);
    const account = await createAccount(service, alice, identity);
    const other = await createIdentity(service, alice);
    const disabled = await createIdentity(service, alice, 'DISABLED');
    const foreign = await createIdentity(service, bob);
    expectProblem(await refused({ identity_id: foreign }), 404, 'not-found');
    expectProblem(await refused({ account_id: newId() }), 404, 'not-found');
    expectProblem(await refused({ identity_id: disabled }), 403, 'forbidden');
    expectInvalid(await refused({ identity_id: other, account_id: account }), '/account_id');
  });

  it('must be covered by the balance, fee included', async () => {
    const own = await service.createProfile(alice, { BTC: '0.5' });
    const meta = expectProblem(await refused({ profile_id: own }), 403, 'insufficient-funds');
    expect(meta).toEqual({ profile_id: own, asset: 'BTC', available: '0.5', needed: '0.5001' });
  });
});

describe('ref_id', () => {
  it('makes one withdrawal of fifty equal or different requests at once', async () => {
    const own = await service.createProfile(alice, { BTC: '100' });
    await expectOneOfFifty(service, alice, PATH, { ...base, profile_id: own, ref_id: 'fifty' });
    expect(await balanceOf(service, own, 'BTC')).toEqual({ available: '99.4999', held: '0.5001' });
    const body = { ...base, ref_id: 'fifty different' };
    await expectOneOfFiftyDifferent(service, alice, PATH, body, (index) => `0.0${index + 10}`);
  });

  it('is not used up by a refused request', async () => {
    const own = await service.createProfile(alice);
    const body = { profile_id: own, ref_id: 'once funds are there' };
    expectProblem(await refused(body), 403, 'insufficient-funds');
    await alice.call('POST', `/v2/sandbox/profiles/${own}/deposit`, { asset: 'BTC', amount: '1' });
    const answer = await withdraw(body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
  });

  it('is shared with the other transfer operations', async () => {
    const deposit = { asset: 'BTC', amount: '1', ref_id: 'one space' };
    const first = await alice.call('POST', `/v2/sandbox/profiles/${profile}/deposit`, deposit);
    const meta = expectProblem(await refused({ ref_id: 'one space' }), 409, 'already-exists');
    expect(meta.existing).toEqual(first.body);
    expect(meta.differs).toEqual(['amount', 'destination_address', 'operation']);
  });
});

it('in production a withdrawal over a network without a rail is refused', async () => {
  const production = await startTestService(PRODUCTION);
  const carol = await production.createCustomer();
  const own = await production.createProfile(carol, { BTC: '5' });
  const answer = await expectNothingWritten(production, () =>
    carol.call('POST', PATH, { ...base, profile_id: own }),
  );
  expectInvalid(answer, '/crypto_network');
  expect(answer.body.detail).toContain('BITCOIN has no configured rail');
  await production.stop();
});

it('refuses malformed requests', async () => {
  await expectCommonRefusals(service, PATH, 'transfer:write_crypto_withdrawal', base);
});
