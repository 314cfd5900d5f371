import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import { createAccount, createFiatAccount, createIdentity } from '../support/transfers.ts';

const PATH = '/v2/transfer/transfers';
const BITCOIN = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';

type Item = { id: string; created_at: string; updated_at: string; [name: string]: unknown };

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let main: string;
let savings: string;
let identity: string;
let account: string;
/** In the order of their creation. */
let deposit: Item;
let coins: Item;
let wire: Item;
let crypto: Item;
let debit: Item;
let platform: Item;
let everything: Item[];

async function create(path: string, body: object): Promise<Item> {
  const answer = await alice.call('POST', path, body);
  expect(answer.status).toBe(200);
  return answer.body;
}

beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
  main = await service.createProfile(alice);
  savings = await service.createProfile(alice);
  const theirs = await service.createProfile(bob);
  identity = await createIdentity(service, alice);
  account = await createAccount(service, alice, identity);
  const sandbox = `/v2/sandbox/profiles/${main}/deposit`;
  deposit = await create(sandbox, { asset: 'USD', amount: '1000', ref_id: 'deposit' });
  coins = await create(sandbox, { asset: 'BTC', amount: '10', ref_id: 'coins, "quoted" {and} \\ more' });
  wire = await create('/v2/transfer/fiat-withdrawals', {
    asset: 'USD',
    amount: '10',
    profile_id: main,
    fiat_account_id: await createFiatAccount(service, alice, 'wire'),
    identity_id: identity,
    account_id: account,
  });
  crypto = await create('/v2/transfer/crypto-withdrawals', {
    asset: 'BTC',
    amount: '1',
    profile_id: main,
    destination_address: BITCOIN,
    crypto_network: 'BITCOIN',
    account_id: account,
  });
  const inside = { from_profile_id: main, amount: '5', asset: 'USD' };
  debit = await create('/v2/transfer/internal', { ...inside, to_profile_id: savings, ref_id: 'inside' });
  platform = await create('/v2/transfer/platform', { ...inside, to_profile_id: theirs, ref_id: 'platform' });
  await service.database.query(`update transfers set crypto_tx_hash = 'hash-one' where id = $1`, [crypto.id]);
  crypto = { ...crypto, crypto_tx_hash: 'hash-one' };
  everything = (await alice.call('GET', `${PATH}?order=ASC`)).body.items;
});
afterAll(() => service.stop());

const list = (query: string): Promise<Answer> => alice.call('GET', `${PATH}?${query}`);

async function idsOf(query: string): Promise<string[]> {
  const answer = await list(query);
  expect(answer.status).toBe(200);
  return answer.body.items.map((item: Item) => item.id);
}

/** Every page until the last, following the cursor. */
async function walk(query: string, between: () => Promise<unknown> = async () => undefined): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const answer = await list(cursor === undefined ? query : `${query}&page_cursor=${cursor}`);
    expect(answer.status).toBe(200);
    items.push(...answer.body.items);
    cursor = answer.body.next_page_cursor;
    if (cursor !== undefined) await between();
  } while (cursor !== undefined);
  return items;
}

describe('one transfer', () => {
  it('is read as it was answered', async () => {
    for (const item of [deposit, coins, wire, crypto, debit, platform]) {
      const answer = await alice.call('GET', `${PATH}/${item.id}`);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(item);
    }
  });

  it('that is unknown or of another customer is not found', async () => {
    expectProblem(await bob.call('GET', `${PATH}/${wire.id}`), 404, 'not-found');
    const id = newId();
    const meta = expectProblem(await alice.call('GET', `${PATH}/${id}`), 404, 'not-found');
    expect(meta).toEqual({ resource: 'transfer', id });
  });

  it('needs a valid id', async () => {
    for (const id of ['x', wire.id.toUpperCase(), '%00']) {
      expectInvalid(await alice.call('GET', `${PATH}/${id}`), '/path/id');
    }
  });

  it('accepts no query parameters', async () => {
    expectInvalid(await alice.call('GET', `${PATH}/${wire.id}?expand=1`), '/query/expand');
  });
});

describe('filters', () => {
  it('without any, all transfers of the caller are listed, newest first', async () => {
    const answer = await alice.call('GET', PATH);
    expect(answer.body).toEqual({ items: [...everything].reverse() });
    expect(everything).toHaveLength(7);
    expect(everything.map((item) => item.id)).toEqual(expect.arrayContaining([wire.id, platform.id]));
  });

  const cases: [string, () => string, () => Item[]][] = [
    ['ids', () => `ids=${wire.id}&ids=${deposit.id}&ids=${newId()}`, () => [wire, deposit]],
    ['ref_ids', () => 'ref_ids=inside&ref_ids=deposit&ref_ids=unknown', () => [debit, deposit]],
    [
      'ref_ids with odd characters',
      () => `ref_ids=${encodeURIComponent('coins, "quoted" {and} \\ more')}`,
      () => [coins],
    ],
    ['ref_ids that nobody used', () => 'ref_ids=unknown', () => []],
    ['identity_ids', () => `identity_ids=${identity}`, () => [wire]],
    ['account_ids', () => `account_ids=${account}`, () => [crypto, wire]],
    ['one type', () => 'type=WIRE_DEPOSIT', () => [deposit]],
    ['several types', () => 'type=WIRE_DEPOSIT&type=CRYPTO_WITHDRAWAL', () => [crypto, deposit]],
    ['statuses', () => 'statuses=PENDING', () => [crypto, wire]],
    ['statuses that nothing has', () => 'statuses=FAILED', () => []],
    ['crypto_tx_hashes', () => 'crypto_tx_hashes=hash-one&crypto_tx_hashes=hash-two', () => [crypto]],
    [
      'several filters at once',
      () => `account_ids=${account}&type=WIRE_WITHDRAWAL&profile_ids=${main}`,
      () => [wire],
    ],
    ['filters that exclude each other', () => `ids=${wire.id}&ref_ids=deposit`, () => []],
  ];
  it.each(cases)('%s', async (_title, query, expected) => {
    expect(await idsOf(query())).toEqual(expected().map((item) => item.id));
  });

  it('profile_ids select transfers by profile', async () => {
    const [credit] = (await list(`profile_ids=${savings}`)).body.items;
    expect(credit).toMatchObject({ type: 'INTERNAL_TRANSFER_CREDIT', profile_id: savings });
    expect(await idsOf(`profile_ids=${savings}&profile_ids=${main}`)).toHaveLength(7);
  });

  it('group_ids find both sides', async () => {
    expect(await idsOf(`group_ids=${String(debit.group_id)}`)).toHaveLength(2);
    expect(await idsOf(`group_ids=${String(platform.group_id)}`)).toEqual([platform.id]);
  });

  it('times limit the list on either side, exactly', async () => {
    const at = encodeURIComponent(wire.created_at);
    const older = everything.filter((item) => item.created_at < wire.created_at).length;
    expect(await idsOf(`created_at.lt=${at}`)).toHaveLength(older);
    expect(await idsOf(`created_at.lte=${at}`)).toHaveLength(older + 1);
    expect(await idsOf(`created_at.eq=${at}`)).toEqual([wire.id]);
    expect(await idsOf(`created_at.gte=${at}`)).toHaveLength(7 - older);
    expect(await idsOf(`created_at.gt=${at}`)).toHaveLength(7 - older - 1);
    expect(await idsOf(`created_at.gte=${at}&created_at.lte=${at}`)).toEqual([wire.id]);
    expect(await idsOf(`updated_at.eq=${at}`)).toEqual([wire.id]);
    expect(await idsOf(`updated_at.gt=${at}&updated_at.lt=${at}`)).toEqual([]);
    expect(await idsOf('created_at.lt=1980-01-01T00:00:00%2B02:00')).toEqual([]);
  });

  it('that are unknown or invalid are named', async () => {
    expectInvalid(await list('status=PENDING'), '/query/status');
    expectInvalid(await list('offset=5'), '/query/offset');
    expectInvalid(await list('statuses=DONE'), '/query/statuses/0');
    expectInvalid(await list('type=WIRE_DEPOSIT&type=GIFT'), '/query/type/1');
    expectInvalid(await list('ids=x'), '/query/ids/0');
    expectInvalid(await list('ref_ids='), '/query/ref_ids/0');
    expectInvalid(await list('ref_ids=%00'), '/query/ref_ids/0');
    expectInvalid(await list('crypto_tx_hashes=%00'), '/query/crypto_tx_hashes/0');
    expectInvalid(await list('created_at.gte=yesterday'), '/query/created_at.gte');
    expectInvalid(await list('created_at.gte=2026-02-30T00:00:00Z'), '/query/created_at.gte');
    expectInvalid(await list('created_at=2026-02-20T00:00:00Z'), '/query/created_at');
    for (const limit of ['0', '1001', '-1', 'ten', '1.5', '']) {
      expectInvalid(await list(`limit=${limit}`), '/query/limit');
    }
    expectInvalid(await list('order=asc'), '/query/order');
    expectInvalid(await list('order_by=AMOUNT'), '/query/order_by');
    const many = (count: number) => Array.from({ length: count }, () => `ids=${newId()}`).join('&');
    expect((await list(many(100))).status).toBe(200);
    expectInvalid(await list(many(101)), '/query/ids');
  });
});

describe('pages', () => {
  it('go forwards and backwards over every transfer once', async () => {
    for (const limit of [1, 2, 3, 7, 100]) {
      expect(await walk(`limit=${limit}`)).toEqual([...everything].reverse());
      expect(await walk(`limit=${limit}&order=ASC`)).toEqual(everything);
    }
  });

  it('keep their filters', async () => {
    const items = await walk('limit=1&statuses=COMPLETED');
    expect(items).toEqual(everything.filter((item) => item.status === 'COMPLETED').reverse());
  });

  it('can be ordered by the time of the last change', async () => {
    const [first] = everything;
    await service.database.query(
      'update transfers set updated_at_ns = updated_at_ns + 1000000000000 where id = $1',
      [first!.id],
    );
    const ids = (await walk('limit=2&order_by=UPDATED_AT')).map((item) => item.id);
    const others = everything.slice(1).map((item) => item.id);
    expect(ids).toEqual([first!.id, ...others.reverse()]);
    await service.database.query('update transfers set updated_at_ns = created_at_ns where id = $1', [
      first!.id,
    ]);
  });

  it('neither repeat nor miss a row while others are inserted', async () => {
    const own = await service.createCustomer();
    const profile = await service.createProfile(own);
    const insert = async (): Promise<string> =>
      (await own.call('POST', `/v2/sandbox/profiles/${profile}/deposit`, { asset: 'USD', amount: '1' })).body
        .id;
    const made: string[] = [];
    for (let index = 0; index < 9; index += 1) made.push(await insert());
    const listOwn = async (query: string) => {
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const suffix = cursor === undefined ? '' : `&page_cursor=${cursor}`;
        const { body } = await own.call('GET', `${PATH}?${query}${suffix}`);
        ids.push(...body.items.map((item: Item) => item.id));
        cursor = body.next_page_cursor;
        if (cursor !== undefined && made.length < 30) made.push(await insert());
      } while (cursor !== undefined);
      return ids;
    };
    const before = [...made];
    expect(await listOwn('limit=2&order=DESC')).toEqual(before.reverse());
    expect(await listOwn('limit=3&order=ASC')).toEqual(made);
  });

  it('need a cursor of this list in this order', async () => {
    const { next_page_cursor: cursor } = (await list('limit=1')).body;
    expect(await idsOf(`limit=1&page_cursor=${cursor}`)).toEqual([everything.at(-2)!.id]);
    const forged = (text: string): string => Buffer.from(text).toString('base64url');
    for (const bad of [
      'x',
      '',
      'AAAA',
      `${cursor}x`,

      `${cursor}xx`,
      forged('transfers created_at DESC 1 x'),
      forged(`transfers created_at DESC 1 ${newId()} more`),
      forged(`transfers created_at DESC 9999999999999999999 ${newId()}`),
      forged(`transfers amount DESC 1 ${newId()}`),
    ]) {
      expectInvalid(await list(`page_cursor=${bad}`), '/query/page_cursor');
    }
    expectInvalid(await list(`order=ASC&page_cursor=${cursor}`), '/query/page_cursor');
    const elsewhere = await alice.call('GET', `/v2/profiles?page_cursor=${cursor}`);
    expectInvalid(elsewhere, '/query/page_cursor');
    expectInvalid(await list(`order_by=UPDATED_AT&page_cursor=${cursor}`), '/query/page_cursor');
    expectInvalid(await list(`page_cursor=${cursor}&page_cursor=${cursor}`), '/query/page_cursor');
  });
});

describe('ownership', () => {
  it('no customer sees the transfers of another, whatever the filter', async () => {
    const theirs = await bob.call('GET', PATH);
    expect(theirs.body.items).toHaveLength(1);
    expect(theirs.body.items[0].type).toBe('PLATFORM_TRANSFER_CREDIT');
    for (const query of [
      `ids=${wire.id}`,
      'ref_ids=deposit',
      `profile_ids=${main}`,
      `account_ids=${account}`,
      `identity_ids=${identity}`,
      `group_ids=${String(debit.group_id)}`,
      'crypto_tx_hashes=hash-one',
    ]) {
      expect((await bob.call('GET', `${PATH}?${query}`)).body).toEqual({ items: [] });
    }
  });

  it('reading needs its scope and a token', async () => {
    const weak = await service.createCustomer({ scopes: ['transfer:write_platform_transfer'] });
    for (const path of [PATH, `${PATH}/${wire.id}`]) {
      const meta = expectProblem(await weak.call('GET', path), 403, 'insufficient-scope');
      expect(meta.required).toBe('transfer:read_transfer');
      expectProblem(await weak.call('GET', path, undefined, { authorization: '' }), 401, 'unauthenticated');
      expectProblem(await alice.call('DELETE', path), 405, 'method-not-allowed');
    }
  });
});
