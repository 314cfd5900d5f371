import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { deriveAddress } from '../support/networks.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** A freeze at a random moment of many withdrawals and settlements in all states, on two nodes with one database. */

/** Numbers from 0 to 1, the same for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const PARALLEL = 12;
const FROZEN_MS = 1_500;
/** What waits for an approval. */
const LARGE = '900';
const MEMOS = ['', '', 'sandbox:twice', 'sandbox:late', 'sandbox:down'];
const SCOPES = ['PROFILE', 'CUSTOMER', 'PLATFORM'] as const;

type Scene = Awaited<ReturnType<typeof setScene>>;

/** The record that the rails keep: a row for each request that reaches one, with its time. */
async function recordRails({ database }: TestService): Promise<void> {
  await database.query('create table rail_record (key text not null, at timestamptz not null)');
  await database.query(
    `create function record_request() returns trigger language plpgsql security definer as
     $$ begin insert into rail_record values (new.key::text, clock_timestamp()); return null; end $$`,
  );
  await database.query(
    `create trigger recorded after insert or update of requests, turned_away on sandbox_payments
     for each row execute function record_request()`,
  );
}

async function createWire({ database }: TestService, customerId: string, status: string): Promise<string> {
  const id = newId();
  await database.query(
    `insert into fiat_accounts (id, customer_id, status, kind, fiat_account_owner, fiat_network_instructions,
                                created_at_ns, updated_at_ns) values ($1, $2, $3, 'wire', '{}', $4, 0, 0)`,
    [id, customerId, status, JSON.stringify({ wire: { account_number: '1' } })],
  );
  return id;
}

async function setScene() {
  const service = await startTestService({
    FERRY_WORKERS: 'on',
    FERRY_SANDBOX_SPEED: '20000',
    // Tokens of one node are valid on the other.
    FERRY_PUBLIC_URL: 'http://pay.example',
  });
  const urls = [service.url, await service.addNode()];
  await recordRails(service);
  const [operator, alice, bob] = [
    await service.createCustomer(),
    await service.createCustomer(),
    await service.createCustomer(),
  ];
  const balances = { USD: '10000000', BTC: '10000' };
  const profiles = {
    alice: await service.createProfile(alice, balances),
    bob: await service.createProfile(bob, balances),
  };
  const accounts = {
    approved: await createWire(service, alice.id, 'APPROVED'),
    pending: await createWire(service, alice.id, 'PENDING'),
    bobs: await createWire(service, bob.id, 'APPROVED'),
  };
  const policy = {
    name: 'large',
    enabled: true,
    applies_to: { assets: ['USD'] },
    rules: [{ type: 'approval', name: 'large', asset: 'USD', above: '500' }],
    reason: 'test',
  };
  expect((await operator.call('POST', '/v2/operator/policies', policy)).status).toBe(200);
  return { service, urls, operator, alice, bob, profiles, accounts };
}

/** On either node. A request that is refused because of the freeze, or of the rate limit, is sent again. */
async function insist(
  url: string,
  who: TestCustomer,
  method: string,
  path: string,
  body?: object,
): Promise<any> {
  for (;;) {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: who.authorization,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as any;
    if (response.status === 200) return answer;
    const isFrozen = response.status === 403 && /frozen/.test(answer.detail);
    // A stranger is not told: an offer to a frozen party finds no profile.
    const isHidden = path.includes('/settlement/') && [404, 409].includes(response.status);
    expect([isFrozen || isHidden || [429, 503].includes(response.status), answer.detail]).toEqual([
      true,
      answer.detail,
    ]);
    await sleep(25);
  }
}

function withdraw({ urls, alice, profiles, accounts }: Scene, index: number, random: () => number) {
  const url = urls[index % urls.length]!;
  const common = {
    ref_id: newId(),
    profile_id: profiles.alice,
    memo: MEMOS[Math.floor(random() * MEMOS.length)],
  };
  const kind = index % 5;
  if (kind === 0)
    return insist(url, alice, 'POST', '/v2/transfer/crypto-withdrawals', {
      ...common,
      asset: 'BTC',
      amount: '0.01',
      crypto_network: 'BITCOIN',
      destination_address: deriveAddress('BITCOIN', `payee ${index}`),
    });
  return insist(url, alice, 'POST', '/v2/transfer/fiat-withdrawals', {
    ...common,
    asset: 'USD',
    amount: kind === 1 ? LARGE : '10',
    fiat_account_id: kind === 2 ? accounts.pending : accounts.approved,
  });
}

/** Proposed by bob, and affirmed by alice on the other node. */
async function settle({ urls, alice, bob, profiles }: Scene, index: number): Promise<string> {
  const legs = [{ direction: 'DELIVER', asset: 'USD', amount: '1' }];
  const body = { source_profile_id: profiles.bob, target_profile_id: profiles.alice, legs };
  const path = '/v2/settlement/transactions';
  const { id } = await insist(urls[index % 2]!, bob, 'POST', path, body);
  await insist(urls[(index + 1) % 2]!, alice, 'PUT', `${path}/${id}/affirm`);
  return id;
}

/** What the operator does beside it: releases what waits for an approval, and approves the bank account. */
async function release({ service, operator }: Scene, ids: readonly string[]): Promise<void> {
  for (const id of ids)
    await insist(service.url, operator, 'POST', `/v2/operator/withdrawals/${id}/release`, { reason: 'seen' });
}

async function freezeOnce(scene: Scene, random: () => number): Promise<void> {
  const { service, urls, operator, alice, bob, profiles, accounts } = scene;
  const scope = SCOPES[Math.floor(random() * SCOPES.length)]!;
  const url = urls[Math.floor(random() * urls.length)]!;
  const subject = { PROFILE: profiles.alice, CUSTOMER: alice.id, PLATFORM: undefined }[scope];
  await sleep(random() * 100);
  const order = { scope, subject_id: subject, reason: 'test' };
  const frozen = await insist(url, operator, 'POST', '/v2/operator/freezes', order);
  const answeredMs = Date.now() + 1;
  expect(frozen).toMatchObject({ in_force: true, submissions_under_way: 0 });
  const states = await service.database.query<{ state: string; count: number }>(
    'select state, count(*)::integer as count from withdrawal_work group by state order by state',
  );
  console.log(`froze ${scope} with`, states.map(({ state, count }) => `${count} ${state}`).join(', '));
  const neighbour = { profile_id: profiles.bob, fiat_account_id: accounts.bobs, asset: 'USD', amount: '7' };
  const others =
    scope === 'PLATFORM' ? [] : [await insist(url, bob, 'POST', '/v2/transfer/fiat-withdrawals', neighbour)];
  await sleep(FROZEN_MS);
  await until('others are paid while the party is frozen', async () =>
    (
      await statusesOf(
        service,
        others.map(({ id }) => id),
      )
    ).every((one) => one === 'COMPLETED'),
  );
  const endMs = Date.now();
  const window = [answeredMs / 1_000, endMs / 1_000];
  const late = await service.database.query(
    `select r.key, r.at from rail_record r join transfers t on t.id::text = r.key
     where t.customer_id = $3 and r.at between to_timestamp($1) and to_timestamp($2)`,
    [...window, alice.id],
  );
  const settled = await service.database.query(
    `select id from settlement_transactions where status = 'SETTLED'
       and updated_at_ns between $1::numeric * 1000000 and $2::numeric * 1000000`,
    [answeredMs, endMs],
  );
  expect({ late, settled }).toEqual({ late: [], settled: [] });
  await insist(url, operator, 'POST', `/v2/operator/freezes/${frozen.id}/lift`, { reason: 'test' });
}

async function statusesOf({ database }: TestService, ids: readonly string[]): Promise<string[]> {
  const rows = await database.query<{ status: string }>(
    'select status from transfers where id = any ($1::uuid[])',
    [`{${ids.join()}}`],
  );
  return rows.map(({ status }) => status);
}

/** After the freezes: everything is paid once, and everything settles. */
async function expectAllPaid(
  scene: Scene,
  ids: readonly string[],
  settlements: readonly string[],
): Promise<void> {
  const { service } = scene;
  await until('all withdrawals have ended', async () => {
    await service.database.query(`update fiat_accounts set status = 'APPROVED' where status = 'PENDING'`);
    await service.database.query(
      `update withdrawal_work set due_at_ns = 0 where fiat_account_id = $1 and state = 'QUEUED' and not frozen`,
      [scene.accounts.pending],
    );
    await sleep(250);
    return !(await statusesOf(service, ids)).includes('PENDING');
  });
  expect(new Set(ids).size).toBe(ids.length);
  expect(await statusesOf(service, ids)).toEqual(ids.map(() => 'COMPLETED'));
  const payments = await service.database.query<{ key: string; requests: number }>(
    'select key::text as key, requests from sandbox_payments where key::text = any ($1::text[])',
    [`{${ids.join()}}`],
  );
  expect(payments.filter(({ requests }) => requests !== 1)).toEqual([]);
  expect(new Set(payments.map(({ key }) => key))).toEqual(new Set(ids));
  await until('all settlements have settled', async () => {
    const rows = await service.database.query<{ status: string }>(
      'select status from settlement_transactions where id = any ($1::uuid[])',
      [`{${settlements.join()}}`],
    );
    return rows.length === settlements.length && rows.every(({ status }) => status === 'SETTLED');
  });
}

/** The audit of the ledger runs when the service stops. */
export async function freezeAtRandom(count: number, freezes: number, seed: number): Promise<void> {
  console.log(`seed ${seed}`);
  const random = createRandom(seed);
  const scene = await setScene();
  try {
    const made: string[] = [];
    const held: string[] = [];
    const settlements: string[] = [];
    let next = 0;
    const create = async (): Promise<void> => {
      while (next < count) {
        const index = next;
        next += 1;
        const { id, amount } = await withdraw(scene, index, random);
        made.push(id);
        // Half of what is held is released while others are created, also during a freeze.
        if (amount === LARGE && index % 2 === 0) await release(scene, [id]);
        else if (amount === LARGE) held.push(id);
        if (index % 25 === 0) settlements.push(await settle(scene, index));
      }
    };
    const moments = Array.from({ length: freezes }, () => Math.floor((0.2 + 0.6 * random()) * count)).sort(
      (a, b) => a - b,
    );
    const creating = Promise.all(Array.from({ length: Math.min(PARALLEL, count) }, create));
    creating.catch(() => undefined);
    for (const moment of moments) {
      await Promise.race([until('it is time to freeze', () => made.length >= moment), creating]);
      await freezeOnce(scene, random);
    }
    await creating;
    await release(scene, held);
    await expectAllPaid(scene, made, settlements);
  } finally {
    await scene.service.stop();
  }
}
