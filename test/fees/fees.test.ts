import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { newId } from '../../src/kernel/id.ts';
import { parseInstant } from '../../src/kernel/instant.ts';
import type { Caller } from '../../src/kernel/route.ts';
import { noPolicies } from '../../src/policies/guard.ts';
import { SHARED_TABLES } from '../../src/tables.ts';
import { cryptoWithdrawalCommand } from '../../src/withdrawals/crypto.ts';
import { newWork } from '../../src/withdrawals/store.ts';
import { createTestWritePath } from '../support/ledger.ts';
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
  createFiatAccount,
  expectCommonRefusals,
  expectNamed,
  expectNothingWritten,
  NOT_TEXT,
  rawBody,
} from '../support/transfers.ts';

const PATH = '/v2/transfer/fees/crypto-withdrawal';
const WITHDRAWALS = '/v2/transfer/crypto-withdrawals';
const BITCOIN = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const TAPROOT = 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0';
const EVM = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const base = { asset: 'BTC', crypto_network: 'BITCOIN', destination_address: BITCOIN, amount: '0.5' };

let directory: string;
let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let profile: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ferry-fees-'));
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
  profile = await service.createProfile(alice, { BTC: '1000', ETH: '1000' });
});
afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true });
});

async function countFees(): Promise<bigint> {
  const [row] = await service.database.query<{ fees: bigint }>(
    'select count(*) as fees from guaranteed_fees',
  );
  return row!.fees;
}

const quote = (changes: object = {}): Promise<Answer> => alice.call('POST', PATH, { ...base, ...changes });

async function refusedQuote(changes: object): Promise<Answer> {
  const before = await countFees();
  const answer = await quote(changes);
  expect(await countFees()).toBe(before);
  return answer;
}

const withdraw = (changes: object): Promise<Answer> =>
  alice.call('POST', WITHDRAWALS, { ...base, profile_id: profile, ...changes });
const refused = (changes: object): Promise<Answer> => expectNothingWritten(service, () => withdraw(changes));

async function usedBy(id: string): Promise<string | null> {
  const [row] = await service.database.query<{ used_by: string | null }>(
    'select used_by from guaranteed_fees where id = $1',
    [id],
  );
  return row!.used_by;
}

describe('a guaranteed fee', () => {
  it('repeats the request, with its id, the fee and its expiry', async () => {
    const before = BigInt(Date.now()) * 1_000_000n;
    const answer = await quote({ amount: '0.50' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ...base,
      amount: '0.5',
      total: '0.5001',
      fee: '0.0001',
      expires_at: expect.any(String),
    });
    const minutes = Number(parseInstant(answer.body.expires_at)! - before) / 60e9;
    const tookMinutes = (Date.now() - Number(before / 1_000_000n)) / 60e3;
    expect(minutes).toBeGreaterThan(14.9);
    expect(minutes).toBeLessThan(15.1 + tookMinutes);
  });

  it('can be requested with a total', async () => {
    const answer = await quote({ amount: undefined, total: '1' });
    expect(answer.body).toMatchObject({ amount: '0.9999', fee: '0.0001', total: '1' });
  });

  it.each(['asset', 'crypto_network', 'destination_address'])('needs %s, as text', async (field) => {
    expectInvalid(await refusedQuote({ [field]: undefined }), `/${field}`);
    for (const value of NOT_TEXT) expectInvalid(await refusedQuote({ [field]: value }), `/${field}`);
  });

  it('requires exactly one of amount and total, and a total above the fee', async () => {
    expectInvalid(await refusedQuote({ total: '1' }), '/amount', '/total');
    expectInvalid(await refusedQuote({ amount: undefined }), '/amount', '/total');
    expectInvalid(await refusedQuote({ amount: undefined, total: '0.0001' }), '/total');
  });

  it.each(BAD_AMOUNTS)('is not given for %s', async (json) => {
    const before = await countFees();
    expectNamed(await alice.call('POST', PATH, rawBody(base, 'amount', json)), '/amount');
    expect(await countFees()).toBe(before);
  });

  it('is given only for a valid destination', async () => {
    expectInvalid(await refusedQuote({ destination_address: 'alice' }), '/destination_address');
    expectInvalid(await refusedQuote({ asset: 'DOGE' }), '/asset');
    expectInvalid(
      await refusedQuote({ crypto_network: 'ETHEREUM', destination_address: EVM }),
      '/crypto_network',
    );
    const precise = await refusedQuote({ amount: '0.123456789' });
    expect(expectProblem(precise, 400, 'exceeds-precision').max_decimals).toBe(8);
    expectInvalid(await refusedQuote({ ref_id: 'x' }), '/ref_id');
  });

  it('needs its scope', async () => {
    await expectCommonRefusals(service, PATH, 'fee:write_crypto_withdrawal_fee', base);
  });
});

describe('a withdrawal with a guaranteed fee', () => {
  it('costs that fee, whatever the current schedule says', async () => {
    const own = await service.createProfile(alice, { BTC: '1' });
    const { id } = (await quote()).body;
    await service.database.query('update guaranteed_fees set fee_units = 7 where id = $1', [id]);
    const answer = await withdraw({ profile_id: own, fee_id: id });
    expect(answer.body).toMatchObject({ amount: '0.5', fee: '0.00000007', total: '0.50000007' });
    expect(await balanceOf(service, own, 'BTC')).toEqual({ available: '0.49999993', held: '0.50000007' });
    expect(await usedBy(id)).toBe(answer.body.id);
  });

  it('may send less than was quoted, also with a total', async () => {
    const first = (await quote()).body.id;
    expect((await withdraw({ fee_id: first, amount: '0.1' })).status).toBe(200);
    const second = (await quote()).body.id;
    const answer = await withdraw({ fee_id: second, amount: undefined, total: '0.5001' });
    expect(answer.body).toMatchObject({ amount: '0.5', fee: '0.0001' });
  });

  it('may not send more than was quoted', async () => {
    const { id } = (await quote()).body;
    expectInvalid(await refused({ fee_id: id, amount: '0.50000001' }), '/amount');
    expectInvalid(await refused({ fee_id: id, amount: undefined, total: '0.50010001' }), '/total');
    expect(await usedBy(id)).toBeNull();
  });

  it('must be for the same asset, network and destination', async () => {
    const { id } = (await quote()).body;
    expectInvalid(await refused({ fee_id: id, destination_address: TAPROOT }), '/destination_address');
    const ether = { asset: 'ETH', crypto_network: 'ETHEREUM', destination_address: EVM };
    expectInvalid(
      await refused({ fee_id: id, ...ether }),
      '/asset',
      '/crypto_network',
      '/destination_address',
    );
    const onEthereum = (await quote(ether)).body.id;
    expectInvalid(await refused({ ...ether, fee_id: onEthereum, crypto_network: 'BASE' }), '/crypto_network');
    const written = { ...ether, fee_id: onEthereum, destination_address: EVM.toLowerCase() };
    const own = await service.createProfile(alice, { ETH: '2' });
    expect((await withdraw({ ...written, profile_id: own })).status).toBe(200);
  });

  it('answers 404 for an unknown fee and for that of another customer', async () => {
    const foreign = (await bob.call('POST', PATH, base)).body.id;
    for (const id of [newId(), foreign]) {
      expect(expectProblem(await refused({ fee_id: id }), 404, 'not-found')).toEqual({ resource: 'fee', id });
    }
    expect(await usedBy(foreign)).toBeNull();
  });

  it('is refused once the fee has expired', async () => {
    const { id } = (await quote()).body;
    await service.database.query('update guaranteed_fees set expires_at_ns = 1000000000 where id = $1', [id]);
    const meta = expectProblem(await refused({ fee_id: id, ref_id: 'late' }), 403, 'fee-expired');
    expect(meta).toEqual({ expired_at: '1970-01-01T00:00:01Z' });
    expect((await withdraw({ ref_id: 'late' })).status).toBe(200);
  });

  it('uses the fee once, however many requests try at once', async () => {
    const { id } = (await quote()).body;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => withdraw({ fee_id: id, amount: '0.1' })),
    );
    const done = answers.filter((answer) => answer.status === 200);
    expect(done).toHaveLength(1);
    for (const answer of answers) if (answer !== done[0]) expectInvalid(answer, '/fee_id');
    expect(await usedBy(id)).toBe(done[0]!.body.id);
  });

  it('does not use up the fee when it is refused', async () => {
    const poor = await service.createProfile(alice);
    const { id } = (await quote()).body;
    expectProblem(await refused({ fee_id: id, profile_id: poor }), 403, 'insufficient-funds');
    expect(await usedBy(id)).toBeNull();
    expect((await withdraw({ fee_id: id })).status).toBe(200);
  });

  it('can be retried after the fee was used and has expired', async () => {
    const { id } = (await quote()).body;
    const first = await withdraw({ fee_id: id, ref_id: 'again' });
    await service.database.query('update guaranteed_fees set expires_at_ns = 1 where id = $1', [id]);
    const second = await withdraw({ fee_id: id, ref_id: 'again' });
    expect(second.body).toEqual(first.body);
    const other = await withdraw({ ref_id: 'again' });
    expect(expectProblem(other, 409, 'already-exists').differs).toEqual(['fee_id']);
  });
});

it('two nodes never use a fee twice', async () => {
  const config = readConfig({});
  const tables = {
    assets: config.assets,
    networks: config.networks,
    schedule: config.fees,
    prices: config.prices,
    ...SHARED_TABLES,
    newWork,
    hasRail: () => true,
  };
  const caller: Caller = {
    customerId: alice.id,
    clientId: 'test',
    scopes: new Set(),
    integration: 'FIRST_PARTY',
  };
  const nodes = [createTestWritePath(service.database), createTestWritePath(service.database)];
  const owns = await Promise.all(nodes.map(() => service.createProfile(alice, { BTC: '100' })));
  for (let round = 0; round < 20; round += 1) {
    const { id } = (await quote()).body;
    const outcomes = await Promise.allSettled(
      nodes.map((node, index) => {
        const request = { ...base, crypto_network: 'BITCOIN', profile_id: owns[index]!, fee_id: id } as const;
        return node.submit(cryptoWithdrawalCommand(caller, request, noPolicies(alice.id), tables));
      }),
    );
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
  }
  await Promise.all(nodes.map((node) => node.stop()));
});

describe('the configuration', () => {
  const configOf = (file: unknown, env: Record<string, string> = {}) => {
    const path = join(directory, `${newId()}.json`);
    writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file));
    return { ...env, FERRY_CONFIG: path };
  };

  it('sets fees of deposits and the limit for rent', () => {
    const fees = { deposits: { fiat: { wire: '5' }, crypto: { BTC: { BITCOIN: '0.0001' } } } };
    const config = readConfig(configOf({ fees, rent_lamports_per_day_max: '7' }));
    expect(config.rentLamportsPerDayMax).toBe(7n);
    expect(config.fees.deposit('wire', 'USD')).toBe(500n);
    expect(config.fees.deposit('BITCOIN', 'BTC')).toBe(10_000n);
    expect(config.fees.deposit('cubix', 'USD')).toBe(0n);
    const rounded = configOf({ rent_lamports_per_day_max: 7 });
    expect(() => readConfig(rounded)).toThrow('rent_lamports_per_day_max must be a string of 1 to 18 digits');
    expect(() => readConfig(configOf({ fees: { deposits: { wire: '5' } } }))).toThrow('fees.deposits.wire');
  });

  it('changes the named fees and keeps the others; an asset without a price has no notional value', async () => {
    const fees = { fiat: { cubix: '1.5' }, crypto: { BTC: { BITCOIN: '0' } } };
    const other = await startTestService(configOf({ fees, prices: { ETH: '2000' } }));
    const carol = await other.createCustomer();
    const own = await other.createProfile(carol, { USD: '1000', BTC: '1', ETH: '1' });
    const fiat = async (kind: 'cubix' | 'wire') => {
      const account = await createFiatAccount(other, carol, kind);
      const body = { asset: 'USD', amount: '10', profile_id: own, fiat_account_id: account };
      return (await carol.call('POST', '/v2/transfer/fiat-withdrawals', body)).body.fee;
    };
    expect(await fiat('cubix')).toBe('1.5');
    expect(await fiat('wire')).toBe('20');
    const free = await carol.call('POST', WITHDRAWALS, { ...base, profile_id: own });
    expect(free.body).toMatchObject({ fee: '0', total: '0.5' });
    expect(free.body).not.toHaveProperty('notional_value');
    const ether = { asset: 'ETH', crypto_network: 'ETHEREUM', destination_address: EVM, amount: '0.1' };
    const priced = await carol.call('POST', WITHDRAWALS, { ...ether, profile_id: own });
    expect(priced.body).toMatchObject({ fee: '0.001', notional_value: '202' });
    await other.stop();
  });

  it('refuses a withdrawal for which no fee is configured', async () => {
    const assets = [
      { code: 'USD', decimals: 2, kind: 'FIAT', networks: {} },
      { code: 'NEW', decimals: 8, kind: 'CRYPTO', networks: { BITCOIN: 'native' } },
    ];
    const other = await startTestService(configOf({ assets }));
    const carol = await other.createCustomer();
    const own = await other.createProfile(carol);
    const body = { ...base, asset: 'NEW' };
    expectInvalid(await carol.call('POST', PATH, body), '/crypto_network');
    expectInvalid(await carol.call('POST', WITHDRAWALS, { ...body, profile_id: own }), '/crypto_network');
    await other.stop();
  });

  it.each([
    [{ fees: 5 }, 'FERRY_CONFIG: fees must be an object, not 5.'],
    [{ fees: { wire: '5' } }, 'FERRY_CONFIG: fees.wire is not a known entry: use fiat, crypto, deposits.'],
    [{ fees: { fiat: [] } }, 'FERRY_CONFIG: fees.fiat must be an object, not [].'],
    [{ fees: { fiat: { swift: '5' } } }, 'FERRY_CONFIG: fees.fiat.swift must be one of wire,'],
    [{ fees: { fiat: { wire: 5 } } }, 'FERRY_CONFIG: fees.fiat.wire must be a decimal string'],
    [{ fees: { fiat: { wire: '0.001' } } }, 'FERRY_CONFIG: fees.fiat.wire has 3 decimals'],
    [{ fees: { crypto: { DOGE: {} } } }, 'FERRY_CONFIG: fees.crypto.DOGE must name a configured asset.'],
    [{ fees: { crypto: { BTC: '1' } } }, 'FERRY_CONFIG: fees.crypto.BTC must be an object, not "1".'],
    [
      { fees: { crypto: { BTC: { INK: '1' } } } },
      'FERRY_CONFIG: fees.crypto.BTC.INK must name a network of BTC.',
    ],
    [{ prices: [] }, 'FERRY_CONFIG: prices must be an object, not [].'],
    [{ prices: { BTC: 65_000 } }, 'FERRY_CONFIG: prices.BTC must be a decimal string'],
    [{ prices: { BTC: '-1' } }, 'FERRY_CONFIG: prices.BTC must be digits'],
  ])('is refused in one sentence: %j', (file, sentence) => {
    expect(() => readConfig(configOf(file))).toThrow(sentence);
  });
});

describe('the list of assets', () => {
  it('has decimals, rails and fees, which are those that withdrawals are charged', async () => {
    const { status, body } = await alice.call('GET', '/v2/assets');
    expect(status).toBe(200);
    const assetOf = (code: string) => body.items.find((one: { asset: string }) => one.asset === code);
    expect(assetOf('USD')).toMatchObject({ kind: 'FIAT', decimals: 2 });
    expect(assetOf('USD').rails).toContainEqual({ rail: 'wire', withdrawal_fee: '20', deposit_fee: '0' });
    const [bitcoin] = assetOf('BTC').rails;
    const { body: withdrawal } = await withdraw({ amount: '0.01' });
    expect(bitcoin).toEqual({ rail: 'BITCOIN', withdrawal_fee: withdrawal.fee, deposit_fee: '0' });
  });
});
