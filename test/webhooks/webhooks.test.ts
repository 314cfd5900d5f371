import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FIAT_ACCOUNT_EVENTS } from '../../src/fiat-accounts/event-types.ts';
import { FIAT_ACCOUNT_STATUSES } from '../../src/fiat-accounts/fiat-account.ts';
import { MEMBER_EVENTS } from '../../src/identity/event-types.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import { SETTLEMENT_EVENTS } from '../../src/settlement/event-types.ts';
import { SETTLEMENT_STATUSES } from '../../src/settlement/transaction.ts';
import { transferEvents } from '../../src/transfers/event.ts';
import { TRANSFER_STATUSES, TRANSFER_TYPES } from '../../src/transfers/transfer.ts';
import { WEBHOOK_EVENTS } from '../../src/webhooks/event-types.ts';
import { type Hit, OK, type Receiver, startReceiver } from '../support/receiver.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import { PATIENCE_MS, until } from '../support/until.ts';

let service: TestService;
let customer: TestCustomer;
let other: TestCustomer;
let profiles: string[];
const started: Receiver[] = [];
beforeAll(async () => {
  service = await startTestService();
  customer = await service.createCustomer();
  other = await service.createCustomer();
  profiles = [await service.createProfile(customer, { USD: '1000' }), await service.createProfile(customer)];
});
afterAll(async () => {
  await service.stop();
  await Promise.all(started.map((one) => one.close()));
});

async function receiver(): Promise<Receiver> {
  const made = await startReceiver();
  started.push(made);
  return made;
}

const WEBHOOKS = '/v2/events/webhooks';

async function create(body: object): Promise<any> {
  const answer = await customer.call('POST', WEBHOOKS, body);
  expect(answer.status).toBe(200);
  return answer.body;
}

async function transfer(): Promise<string> {
  const answer = await customer.call('POST', '/v2/transfer/internal', {
    from_profile_id: profiles[0],
    to_profile_id: profiles[1],
    asset: 'USD',
    amount: '0.01',
    ref_id: crypto.randomUUID(),
  });
  expect(answer.status).toBe(200);
  return answer.body.id;
}

function verify(secret: string, hit: Hit): unknown {
  return new Webhook(secret).verify(hit.text, hit.headers as Record<string, string>);
}

async function deliveries(id: string, query = ''): Promise<any[]> {
  return (await customer.call('GET', `${WEBHOOKS}/${id}/deliveries?order=ASC${query}`)).body.items;
}

describe('an endpoint', () => {
  it('gets events that an independent library verifies, and the API shows the same', async () => {
    const target = await receiver();
    const { id, secret, ...rest } = await create({
      url: target.url,
      event_types: ['transfer.*'],
      ref_id: 'one',
    });
    expect(secret).toMatch(/^whsec_/);
    expect(rest).toMatchObject({
      url: target.url,
      event_types: ['transfer.*'],
      enabled: true,
      ref_id: 'one',
    });
    await transfer();
    await until('both sides arrive', () => target.hits.length === 2);
    for (const hit of target.hits) {
      const event = verify(secret, hit) as { id: string };
      expect(event.id).toBe(hit.id);
      expect((await customer.call('GET', `/v2/events/${hit.id}`)).body).toEqual(event);
      expect(() => verify('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', hit)).toThrow();
      expect(() => verify(secret, { ...hit, text: hit.text.replace('0.01', '9.01') })).toThrow();
    }
    await until('they are recorded', async () => (await deliveries(id, '&statuses=DELIVERED')).length === 2);
    const [first] = await deliveries(id);
    expect(first).toMatchObject({
      webhook_id: id,
      event_id: target.hits[0]!.id,
      event_type: target.hits[0]!.body.type,
      trigger: 'EVENT',
      status: 'DELIVERED',
      attempts: 1,
      request: { url: target.url, body: target.hits[0]!.body, headers: { 'webhook-id': target.hits[0]!.id } },
      response: { status: 200, body: 'thanks' },
    });
    expect((await customer.call('GET', `${WEBHOOKS}/${id}/deliveries/${first.id}`)).body).toEqual(first);
    await customer.call('DELETE', `${WEBHOOKS}/${id}`);
  });

  it('is signed with both secrets after a rotation', async () => {
    const target = await receiver();
    const { id, secret: old } = await create({ url: target.url });
    const rotated = await customer.call('POST', `${WEBHOOKS}/${id}/rotate-secret`);
    const { secret, previous_secret_expires_at: until24 } = rotated.body;
    expect(secret).not.toBe(old);
    expect(Date.parse(until24) - Date.now()).toBeGreaterThan(23.9 * 3_600_000);
    await transfer();
    await until('it arrives', () => target.hits.length === 2);
    for (const hit of target.hits) {
      expect(String(hit.headers['webhook-signature']).split(' ')).toHaveLength(2);
      verify(secret, hit);
      verify(old, hit);
    }
    await service.database.query('update webhook_endpoints set previous_until_ns = 1 where id = $1', [id]);
    await customer.call('PUT', `${WEBHOOKS}/${id}`, { description: 'a day later' });
    await transfer();
    await until('it arrives again', () => target.hits.length === 4);
    const last = target.hits.at(-1)!;
    verify(secret, last);
    expect(() => verify(old, last)).toThrow();
    await customer.call('DELETE', `${WEBHOOKS}/${id}`);
  });

  it('gets only the types that it subscribes to', async () => {
    const [credits, all, none] = [await receiver(), await receiver(), await receiver()];
    const made = await Promise.all([
      create({ url: credits.url, event_types: ['transfer.internal_transfer_credit.*'] }),
      create({ url: all.url }),
      create({ url: none.url, event_types: ['fiat_account.*', 'transfer.wire_withdrawal.*'] }),
    ]);
    await transfer();
    await until('both arrive', () => all.hits.length === 2);
    await until('one arrives', () => credits.hits.length === 1);
    expect(credits.hits[0]!.body.type).toBe('transfer.internal_transfer_credit.completed');
    expect(none.hits).toEqual([]);
    await Promise.all(made.map(({ id }) => customer.call('DELETE', `${WEBHOOKS}/${id}`)));
  });

  it('shows since when it has been failing and when it is tried next, and neither while it works', async () => {
    const target = await receiver();
    const { id } = await create({ url: target.url });
    const read = async () => (await customer.call('GET', `${WEBHOOKS}/${id}`)).body;
    const listed = async () => (await customer.call('GET', `${WEBHOOKS}?ids=${id}`)).body.items[0];
    await transfer();
    await until('it arrives', () => target.hits.length === 2);
    expect(await read()).not.toHaveProperty('failing_since');
    expect(await read()).not.toHaveProperty('next_attempt_at');
    const before = Date.now();
    target.behave((_, response) => void response.writeHead(500).end());
    await transfer();
    await until('both have failed', async () => {
      const pending = await deliveries(id, '&statuses=PENDING');
      return pending.length === 2 && pending.every((one) => one.attempts > 0);
    });
    // A retry between two of these reads changes the times; then they are compared again.
    const failing = await vi.waitFor(async () => {
      const shown = await read();
      expect(Date.parse(shown.failing_since)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(shown.failing_since)).toBeLessThanOrEqual(Date.now());
      const due = (await deliveries(id, '&statuses=PENDING')).map((one) => Date.parse(one.next_attempt_at));
      expect(Date.parse(shown.next_attempt_at)).toBe(Math.min(...due));
      expect(await listed()).toEqual(shown);
      return shown;
    }, PATIENCE_MS);
    for (let count = 0; count < 5; count += 1) await transfer();
    const probeAt = async (): Promise<bigint | null> => {
      const rows = await service.database.query<{ at: bigint | null }>(
        'select probe_at_ms as at from webhook_progress where endpoint_id = $1',
        [id],
      );
      return rows[0]!.at;
    };
    await until('the breaker is open, and the time of the next probe is shown', async () => {
      const at = await probeAt();
      return at !== null && Date.parse((await read()).next_attempt_at) === Number(at);
    });
    const disabled = await customer.call('PUT', `${WEBHOOKS}/${id}`, { enabled: false });
    expect(disabled.body.enabled).toBe(false);
    expect(await read()).toMatchObject({ failing_since: failing.failing_since });
    expect(await read()).not.toHaveProperty('next_attempt_at');
    target.behave(OK);
    await customer.call('PUT', `${WEBHOOKS}/${id}`, { enabled: true });
    await until('it works again', async () => (await deliveries(id, '&statuses=DELIVERED')).length >= 4);
    expect(await read()).not.toHaveProperty('failing_since');
    expect(await read()).not.toHaveProperty('next_attempt_at');
    await customer.call('DELETE', `${WEBHOOKS}/${id}`);
  });

  it('continues where it stopped when it is enabled again', async () => {
    const target = await receiver();
    const { id } = await create({ url: target.url });
    await transfer();
    await until('it arrives', () => target.hits.length === 2);
    const disabled = await customer.call('PUT', `${WEBHOOKS}/${id}`, { enabled: false });
    expect(disabled.body.enabled).toBe(false);
    await transfer();
    await sleep(200);
    expect(target.hits).toHaveLength(2);
    await customer.call('PUT', `${WEBHOOKS}/${id}`, { enabled: true });
    await until('the missed events arrive', () => target.hits.length === 4);
    await customer.call('DELETE', `${WEBHOOKS}/${id}`);
  });

  it('that is deleted gets nothing more, and is not found', async () => {
    const target = await receiver();
    const { id } = await create({ url: target.url });
    expect((await customer.call('DELETE', `${WEBHOOKS}/${id}`)).body.deleted_at).toEqual(expect.any(String));
    await transfer();
    await sleep(200);
    expect(target.hits).toEqual([]);
    expectProblem(await customer.call('GET', `${WEBHOOKS}/${id}`), 404, 'not-found');
    expectProblem(await customer.call('DELETE', `${WEBHOOKS}/${id}`), 404, 'not-found');
    const [row] = await service.database.query('select secret from webhook_endpoints where id = $1', [id]);
    expect(row).toEqual({ secret: null });
  });
});

describe('creating', () => {
  it('happens once per ref_id, and the secret is only in the first answer', async () => {
    const request = { url: 'http://127.0.0.1:9/x', ref_id: 'again' };
    const [first, second] = await Promise.all([
      customer.call('POST', WEBHOOKS, request),
      customer.call('POST', WEBHOOKS, { ...request, event_types: ['*'] }),
    ]);
    const isReplay = (one: Answer): boolean => one.headers.get('idempotent-replayed') === 'true';
    const [created, replay] = isReplay(first) ? [second, first] : [first, second];
    expect([isReplay(created), isReplay(replay)]).toEqual([false, true]);
    const { secret, ...rest } = created.body;
    expect(secret).toMatch(/^whsec_/);
    expect(replay.body).toEqual(rest);
    const differing = await customer.call('POST', WEBHOOKS, { ...request, event_types: ['transfer.*'] });
    const { existing, differs } = expectProblem(differing, 409, 'already-exists');
    expect(differs).toEqual(['event_types']);
    expect(existing.id).toBe(first.body.id);
    expect(JSON.stringify(differing.body)).not.toContain('whsec_');
    expect(JSON.stringify((await customer.call('GET', WEBHOOKS)).body)).not.toContain('whsec_');
    await customer.call('DELETE', `${WEBHOOKS}/${first.body.id}`);
  });

  it('keeps the secret sealed in the database', async () => {
    const { id, secret } = await create({ url: 'http://127.0.0.1:9/x' });
    const [row] = await service.database.query<{ secret: string }>(
      'select secret from webhook_endpoints where id = $1',
      [id],
    );
    expect(row!.secret).toMatch(/^sealed\./);
    expect(row!.secret).not.toContain(secret.slice(6));
    await customer.call('DELETE', `${WEBHOOKS}/${id}`);
  });

  it('reports every invalid field', async () => {
    const wrong = async (body: object, ...pointers: string[]) =>
      expectInvalid(await customer.call('POST', WEBHOOKS, body), ...pointers);
    await wrong({}, '/url');
    await wrong({ url: 'ftp://example.com', event_types: ['transfers.*'] }, '/url', '/event_types/0');
    await wrong({ url: 'http://user:secret@example.com/' }, '/url');
    await wrong({ url: 'https://example.com/#x' }, '/url');
    await wrong({ url: 'https://example.com', event_types: [] }, '/event_types');
    await wrong({ url: 'https://example.com', event_types: ['Transfer'] }, '/event_types/0');
    await wrong({ url: 'https://example.com', event_types: ['*', 'transfer.foo.bar'] }, '/event_types/1');
    await wrong({ url: 'https://example.com', event_types: ['fiat_account.*.approved'] }, '/event_types/0');
    await wrong({ url: 'https://example.com', secret: 'mine' }, '/secret');
  });

  it('accepts every event type', async () => {
    const types = [
      ...TRANSFER_TYPES.flatMap((type) => TRANSFER_STATUSES.map((status) => `transfer.${type}.${status}`)),
      ...SETTLEMENT_STATUSES.map((status) => `settlement.transaction.${status}`),
      ...[...FIAT_ACCOUNT_STATUSES, 'deleted'].map((status) => `fiat_account.${status}`),
      'account_member.added',
      'account_member.removed',
      'webhook_endpoint.disabled',
      'webhook_endpoint.test',
    ].map((type) => type.toLowerCase());
    const families = [
      transferEvents(NETWORKS),
      SETTLEMENT_EVENTS,
      FIAT_ACCOUNT_EVENTS,
      MEMBER_EVENTS,
      WEBHOOK_EVENTS,
    ];
    expect(families.flatMap((one) => Object.values<string>(one.types)).sort()).toEqual(types.sort());
    const { id } = await create({
      url: 'http://127.0.0.1:9/x',
      event_types: ['transfer.*', 'transfer.*.failed'],
    });
    for (let first = 0; first < types.length; first += 20) {
      const changed = await customer.call('PUT', `${WEBHOOKS}/${id}`, {
        event_types: types.slice(first, first + 20),
      });
      expect(changed.status).toBe(200);
    }
    await customer.call('DELETE', `${WEBHOOKS}/${id}`);
  });

  it('is limited to 20 endpoints per customer', async () => {
    const many = await service.createCustomer();
    for (let count = 0; count < 20; count += 1) {
      const answer = await many.call('POST', WEBHOOKS, { url: 'http://127.0.0.1:9/x' });
      expect(answer.status).toBe(200);
    }
    expectProblem(await many.call('POST', WEBHOOKS, { url: 'http://127.0.0.1:9/x' }), 403, 'forbidden');
    const page = (await many.call('GET', `${WEBHOOKS}?limit=15`)).body;
    const rest = await many.call('GET', `${WEBHOOKS}?limit=15&page_cursor=${page.next_page_cursor}`);
    expect([page.items.length, rest.body.items.length]).toEqual([15, 5]);
  });

  it('and every other operation needs its scope, and belongs to one customer', async () => {
    const reader = await service.createCustomer({ scopes: ['events:read_event'] });
    expectProblem(await reader.call('POST', WEBHOOKS, { url: 'http://x' }), 403, 'insufficient-scope');
    const { id } = await create({ url: 'http://127.0.0.1:9/x' });
    const paths: [string, string, object?][] = [
      ['GET', ''],
      ['PUT', '', { enabled: false }],
      ['DELETE', ''],
      ['POST', '/rotate-secret'],
      ['POST', '/test'],
      ['POST', '/replay', { since: '2026-01-01T00:00:00Z' }],
      ['GET', '/deliveries'],
      ['GET', `/deliveries/${id}`],
      ['POST', `/deliveries/${id}/replay`],
    ];
    for (const [method, path, body] of paths) {
      expectProblem(await other.call(method, `${WEBHOOKS}/${id}${path}`, body), 404, 'not-found');
    }
    expect((await other.call('GET', WEBHOOKS)).body.items).toEqual([]);
    await customer.call('DELETE', `${WEBHOOKS}/${id}`);
  });
});

describe('a test event', () => {
  it('is sent at once and answered with the response, also when the endpoint is disabled', async () => {
    const target = await receiver();
    const { id, secret } = await create({ url: target.url, event_types: ['fiat_account.*'] });
    await customer.call('PUT', `${WEBHOOKS}/${id}`, { enabled: false });
    const { body } = await customer.call('POST', `${WEBHOOKS}/${id}/test`);
    expect(body).toMatchObject({ trigger: 'TEST', status: 'DELIVERED', response: { status: 200 } });
    expect(target.hits).toHaveLength(1);
    const event = verify(secret, target.hits[0]!) as any;
    expect(event).toMatchObject({ type: 'webhook_endpoint.test', resource_id: id, data: { id } });
    target.behave((_, response) => response.writeHead(500).end('no'));
    const failed = await customer.call('POST', `${WEBHOOKS}/${id}/test`);
    expect(failed.body).toMatchObject({ status: 'FAILED', response: { status: 500, body: 'no' } });
    await customer.call('DELETE', `${WEBHOOKS}/${id}`);
  });
});

describe('a replay', () => {
  it('of one delivery carries the same webhook-id', async () => {
    const target = await receiver();
    const { id, secret } = await create({ url: target.url });
    await transfer();
    await until('done', async () => (await deliveries(id, '&statuses=DELIVERED')).length === 2);
    const [first] = await deliveries(id);
    const { body } = await customer.call('POST', `${WEBHOOKS}/${id}/deliveries/${first.id}/replay`);
    expect(body).toMatchObject({ trigger: 'REPLAY', event_id: first.event_id });
    await until('it arrives again', () => target.hits.length === 3);
    expect(target.hits[2]!.id).toBe(first.event_id);
    verify(secret, target.hits[2]!);
    await customer.call('DELETE', `${WEBHOOKS}/${id}`);
  });

  it('since a time sends all events from then on in order, and continues with new ones', async () => {
    const target = await receiver();
    await transfer();
    const since = new Date().toISOString();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push(await transfer());
    // A new endpoint gets the events that become visible after its creation; all of these come before.
    const last = `/v2/events?resource_ids=${ids.at(-1)}`;
    await until('the last is visible', async () => (await customer.call('GET', last)).body.items.length > 0);
    const { id } = await create({ url: target.url, event_types: ['transfer.internal_transfer_debit.*'] });
    const answer = await customer.call('POST', `${WEBHOOKS}/${id}/replay`, { since });
    expect(answer.status).toBe(200);
    await until('five arrive', () => target.hits.length === 5);
    const ofTransfers = target.hits.map((hit) => hit.body.data.id);
    expect(new Set(ofTransfers)).toEqual(new Set(ids));
    ids.push(await transfer());
    await until('the sixth arrives', () => target.hits.length === 6);
    expect(new Set(target.hits.map((hit) => hit.body.data.id)).size).toBe(6);
    await until('done', async () => (await deliveries(id, '&statuses=DELIVERED')).length === 6);
    expect((await deliveries(id)).map((one) => one.trigger)).toEqual([...Array(5).fill('REPLAY'), 'EVENT']);
    await customer.call('DELETE', `${WEBHOOKS}/${id}`);
  });
});
