import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { systemBalances } from '../../src/ledger/balances.ts';
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

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let profile: string;
let path: string;
const base = { asset: 'USD', amount: '100' };

beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
  profile = await service.createProfile(alice);
  path = `/v2/sandbox/profiles/${profile}/deposit`;
});
afterAll(() => service.stop());

const deposit = (changes: object = {}): Promise<Answer> => alice.call('POST', path, { ...base, ...changes });
const refused = (changes: object): Promise<Answer> => expectNothingWritten(service, () => deposit(changes));

async function clearing(account: string, asset: string): Promise<bigint> {
  const rows = await systemBalances(service.database);
  return rows.find((row) => row.account === account && row.asset === asset)?.balance ?? 0n;
}

describe('a deposit', () => {
  it('of USD is a completed wire, from the clearing account to the available balance', async () => {
    const own = await service.createProfile(alice);
    const before = await clearing('clearing:wire', 'USD');
    const body = { ...base, amount: '100.50', ref_id: 'wire', metadata: { from: 'bank' } };
    const answer = await alice.call('POST', `/v2/sandbox/profiles/${own}/deposit`, body);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      customer_id: alice.id,
      profile_id: own,
      amount: '100.5',
      total: '100.5',
      fee: '0',
      asset: 'USD',
      balance_asset: 'USD',
      direction: 'CREDIT',
      type: 'WIRE_DEPOSIT',
      status: 'COMPLETED',
      created_at: expect.any(String),
      updated_at: answer.body.created_at,
      ref_id: 'wire',
      metadata: { from: 'bank' },
    });
    expect(await balanceOf(service, own, 'USD')).toEqual({ available: '100.5', held: '0' });
    expect(await clearing('clearing:wire', 'USD')).toBe(before - 10_050n);
    const read = await alice.call('GET', `/v2/transfer/transfers/${answer.body.id}`);
    expect(read.body).toEqual(answer.body);
    expect(await eventsOf(service.database, answer.body.id)).toEqual([
      { customer_id: alice.id, type: 'transfer.wire_deposit.completed', resource: answer.body },
    ]);
  });

  it('of a coin with one network need not name the network', async () => {
    const implied = await deposit({ asset: 'BTC', amount: '1', ref_id: 'implied' });
    expect(implied.body).toMatchObject({
      type: 'CRYPTO_DEPOSIT',
      crypto_network: 'BITCOIN',
      auto_conversion: {},
      notional_value: '65000',
      fee: '0',
    });
    const named = await deposit({ asset: 'BTC', amount: '1', ref_id: 'implied', crypto_network: 'BITCOIN' });
    expect(named.body).toEqual(implied.body);
    expect(await clearing('clearing:bitcoin', 'BTC')).toBe(-100_000_000n);
  });

  it('of an asset on several networks must name one of them', async () => {
    expectInvalid(await refused({ asset: 'ETH' }), '/crypto_network');
    expectInvalid(await refused({ asset: 'ETH', crypto_network: 'BITCOIN' }), '/crypto_network');
    expectInvalid(await refused({ asset: 'BTC', crypto_network: 'ETHEREUM' }), '/crypto_network');
    const answer = await deposit({ asset: 'ETH', crypto_network: 'INK' });
    expect(answer.body).toMatchObject({ type: 'CRYPTO_DEPOSIT', crypto_network: 'INK' });
  });

  it('of USD has no network', async () => {
    expectInvalid(await refused({ crypto_network: 'ETHEREUM' }), '/crypto_network');
  });

  it.each(BAD_AMOUNTS)('of %s is refused', async (json) => {
    const send = () => alice.call('POST', path, rawBody(base, 'amount', json));
    expectNamed(await expectNothingWritten(service, send), '/amount');
  });

  it('needs an asset and an amount, of the right types', async () => {
    for (const field of ['asset', 'amount'])
      expectInvalid(await refused({ [field]: undefined }), `/${field}`);
    for (const field of ['asset', 'crypto_network', 'ref_id']) {
      for (const value of NOT_TEXT) expectInvalid(await refused({ [field]: value }), `/${field}`);
    }
    expectInvalid(await refused({ asset: 'DOGE' }), '/asset');
    expectInvalid(await refused({ total: '5' }), '/total');
    expectProblem(await refused({ amount: '1.001' }), 400, 'exceeds-precision');
  });

  it('is refused if the ledger cannot hold the resulting balance', async () => {
    const own = await service.createProfile(alice);
    const most = { asset: 'ETH', crypto_network: 'ETHEREUM', amount: '99999999999999999999.9' };
    const send = () => alice.call('POST', `/v2/sandbox/profiles/${own}/deposit`, most);
    expect((await send()).status).toBe(200);
    expectInvalid(await expectNothingWritten(service, send), '/amount');
  });

  describeMetadata('metadata', deposit, refused);
  describeRefIdShape(deposit, refused);

  it('goes only to an active profile of the caller', async () => {
    const foreign = await service.createProfile(bob);
    for (const id of [newId(), foreign]) {
      const answer = await alice.call('POST', `/v2/sandbox/profiles/${id}/deposit`, base);
      expect(expectProblem(answer, 404, 'not-found')).toEqual({ resource: 'profile', id });
    }
    const own = await service.createProfile(alice);
    await disableProfile(service, own);
    const answer = await alice.call('POST', `/v2/sandbox/profiles/${own}/deposit`, base);
    expectProblem(answer, 403, 'forbidden');
    expectInvalid(await alice.call('POST', '/v2/sandbox/profiles/x/deposit', base), '/path/id');
  });

  it('is created once per ref_id', async () => {
    await expectOneOfFifty(service, alice, path, { ...base, ref_id: 'fifty' });
    const body = { ...base, ref_id: 'fifty different' };
    await expectOneOfFiftyDifferent(service, alice, path, body, (index) => `${index + 1}`);
  });

  it('needs the scope for simulations', async () => {
    await expectCommonRefusals(service, path, 'sandbox:simulate', base);
  });
});

it('does not exist in production', async () => {
  const production = await startTestService(PRODUCTION);
  const carol = await production.createCustomer();
  const own = await production.createProfile(carol);
  const answer = await expectNothingWritten(production, () =>
    carol.call('POST', `/v2/sandbox/profiles/${own}/deposit`, base),
  );
  expect(expectProblem(answer, 404, 'not-found').resource).toBe('path');
  await production.stop();
});
