import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AlreadyExists,
  createFerry,
  type Ferry,
  type FerryOptions,
  type FerryProblem,
  fromUnits,
  InsufficientFunds,
  InvalidRequest,
  NoAnswer,
  NotFound,
  TokenRefused,
  toUnits,
  verifyWebhook,
  WebhookRefused,
} from '../../packages/client/src/index.ts';
import { createClient } from '../../src/auth/administration.ts';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let credentials: Pick<FerryOptions, 'clientId' | 'clientSecret'>;
let ferry: Ferry;
let from: string;
let to: string;

beforeAll(async () => {
  service = await startTestService({ FERRY_WORKERS: 'on' });
  const customer = await service.createCustomer();
  const { clientId, clientSecret } = await createClient(service.database, service.vault, {
    customer: customer.id,
    name: 'client',
    scopes: SCOPE_NAMES,
  });
  credentials = { clientId, clientSecret };
  ferry = createFerry({ baseUrl: service.url, ...credentials });
  from = await service.createProfile(customer, { USD: '1000' });
  to = await service.createProfile(customer);
});
afterAll(() => service.stop());

/** A fetch that records its calls, and answers some of them itself. */
function recording(answer: (url: URL, count: number) => Response | undefined = () => undefined) {
  const calls: { path: string; headers: Headers }[] = [];
  const send: typeof fetch = async (input, init) => {
    const url = new URL(input);
    calls.push({ path: url.pathname, headers: new Headers(init?.headers) });
    return answer(url, calls.filter(({ path }) => path === url.pathname).length) ?? fetch(input, init);
  };
  return { calls, send, to: (path: string) => calls.filter((call) => call.path === path) };
}

const transfer = (more: object = {}) => ({
  from_profile_id: from,
  to_profile_id: to,
  asset: 'USD',
  amount: '1.50',
  ...more,
});
const PLATFORM = '/v2/transfer/platform';

describe('calls', () => {
  it('makes a transfer, and reads it and the balance', async () => {
    const made = await ferry.createPlatformTransfer(transfer({ ref_id: 'first' }));
    expect(made).toMatchObject({ amount: '1.5', status: 'COMPLETED', ref_id: 'first' });
    expect(await ferry.getTransfer({ id: made.id })).toEqual(made);
    expect((await ferry.getBalance({ id: to, asset: 'USD' })).available).toBe('1.5');
  });

  it('shares one token among all callers, and replaces a token that is refused', async () => {
    const { calls, send, to: sentTo } = recording();
    const shared = createFerry({ baseUrl: `${service.url}/`, ...credentials, fetch: send });
    await Promise.all(Array.from({ length: 10 }, () => shared.getProfile({ id: from })));
    expect(sentTo('/oauth2/token')).toHaveLength(1);
    const token = calls.at(-1)!.headers.get('authorization')!.slice('Bearer '.length);
    await fetch(`${service.url}/oauth2/revoke`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${credentials.clientId}:${credentials.clientSecret}`)}` },
      body: new URLSearchParams({ token }),
    });
    expect((await shared.getProfile({ id: from })).id).toBe(from);
    expect(sentTo('/oauth2/token')).toHaveLength(2);
  });

  it('mints a ref_id before the first attempt and sends it with every one, and uses that of the caller', async () => {
    const { send, to: sentTo } = recording((url, count) => {
      if (url.pathname !== PLATFORM || count > 2) return undefined;
      if (count === 1) throw new TypeError('the connection was lost');
      return new Response('no upstream', { status: 504 });
    });
    const client = createFerry({ baseUrl: service.url, ...credentials, fetch: send });
    const { ref_id } = await client.createPlatformTransfer(transfer());
    const keys = sentTo(PLATFORM).map(({ headers }) => headers.get('idempotency-key'));
    expect(keys).toEqual([ref_id, ref_id, ref_id]);
    const own = await client.createPlatformTransfer(transfer({ ref_id: 'my own' }));
    expect(own.ref_id).toBe('my own');
  });

  it('does not send a request without ref_id again if it may have been executed', async () => {
    const { send, to: sentTo } = recording((url) => {
      if (url.pathname === '/v2/profiles') throw new TypeError('the connection was lost');
      return undefined;
    });
    const client = createFerry({ baseUrl: service.url, ...credentials, fetch: send });
    const error = await client.createProfile({ nickname: 'once' }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NoAnswer);
    expect((error as NoAnswer).message).toBe(
      'createProfile got no answer. Its outcome is not known: check before you repeat it.',
    );
    expect(sentTo('/v2/profiles')).toHaveLength(1);
  });

  it('waits as long as a refusal asks for, also with requests that have no ref_id', async () => {
    const { send, to: sentTo } = recording((url, count) =>
      url.pathname === '/v2/profiles' && count === 1
        ? Response.json(
            {
              type: '/problems/rate-limited',
              title: '',
              status: 429,
              detail: '',
              meta: { retry_after_ms: 200 },
            },
            { status: 429 },
          )
        : undefined,
    );
    const client = createFerry({ baseUrl: service.url, ...credentials, fetch: send });
    const startedMs = performance.now();
    await client.createProfile({ nickname: 'after a pause' });
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(199);
    expect(sentTo('/v2/profiles')).toHaveLength(2);
  });

  it('gives up at the deadline, and says under which ref_id the outcome can be found', async () => {
    const { send } = recording((url) => {
      if (url.pathname === PLATFORM) throw new TypeError('the connection was lost');
      return undefined;
    });
    const client = createFerry({ baseUrl: service.url, ...credentials, fetch: send, deadlineMs: 300 });
    const error = await client
      .createPlatformTransfer(transfer({ ref_id: 'lost' }))
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NoAnswer);
    expect((error as NoAnswer).refId).toBe('lost');
    expect((await ferry.createPlatformTransfer(transfer({ ref_id: 'lost' }))).ref_id).toBe('lost');
  });

  it('ends at once when the caller aborts', async () => {
    const stalled = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(stalled, 'listening');
    const baseUrl = `http://127.0.0.1:${(stalled.address() as AddressInfo).port}`;
    const client = createFerry({ baseUrl, token: () => 'any' });
    const controller = new AbortController();
    const call = client.getProfile({ id: from }, { signal: controller.signal });
    controller.abort(new Error('the user left'));
    await expect(call).rejects.toThrow('the user left');
    stalled.closeAllConnections();
    stalled.close();
  });
});

describe('problems', () => {
  it('are classes with the values of the answer', async () => {
    const poor = ferry.createPlatformTransfer(transfer({ amount: '5000' }));
    const error = await poor.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InsufficientFunds);
    expect(error).toMatchObject({
      slug: 'insufficient-funds',
      status: 403,
      meta: { asset: 'USD', needed: '5000' },
    });
    expect((error as FerryProblem).requestId).toMatch(/./);
    const wrong = ferry.createPlatformTransfer(transfer({ amount: 'x' }));
    await expect(wrong).rejects.toBeInstanceOf(InvalidRequest);
    await expect(wrong).rejects.toMatchObject({ errors: [{ pointer: '/amount' }] });
    await expect(ferry.getProfile({ id: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40' })).rejects.toBeInstanceOf(
      NotFound,
    );
    await ferry.createPlatformTransfer(transfer({ ref_id: 'taken' }));
    const other = ferry.createPlatformTransfer(transfer({ ref_id: 'taken', amount: '2' }));
    await expect(other).rejects.toBeInstanceOf(AlreadyExists);
  });

  it('name a wrong secret, and a missing path parameter', async () => {
    const client = createFerry({ baseUrl: service.url, ...credentials, clientSecret: 'wrong' });
    const error = await client.getProfile({ id: from }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TokenRefused);
    expect(error).toMatchObject({ slug: 'invalid_client', status: 401 });
    await expect(ferry.getProfile({ id: '' })).rejects.toThrow('getProfile needs id, a text.');
  });
});

describe('lists and events', () => {
  it('a list is a page if it is awaited, and all items with for await', async () => {
    const refIds = Array.from({ length: 5 }, (_, index) => `listed-${index}`);
    for (const ref_id of refIds) await ferry.createPlatformTransfer(transfer({ ref_id }));
    const page = await ferry.listTransfers({ ref_ids: refIds, limit: 2, order: 'ASC' });
    expect(page.items.map(({ ref_id }) => ref_id)).toEqual(['listed-0', 'listed-1']);
    const all: (string | undefined)[] = [];
    for await (const { ref_id } of ferry.listTransfers({ ref_ids: refIds, limit: 2, order: 'ASC' }))
      all.push(ref_id);
    expect(all).toEqual(refIds);
  });

  it('follows events as they happen, and continues after an event in the middle of a page', async () => {
    const controller = new AbortController();
    const types = ['transfer.platform_transfer_debit.completed'];
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { data, id } of ferry.follow({ types, signal: controller.signal })) {
        if (!String(data.ref_id).startsWith('followed-')) continue;
        seen.push(id);
        if (seen.length === 4) return;
      }
    })();
    for (let index = 0; index < 4; index += 1) {
      await ferry.createPlatformTransfer(transfer({ ref_id: `followed-${index}` }));
    }
    await reading;
    for await (const { data } of ferry.follow({ types, after: seen[1]! })) {
      expect(data.ref_id).toBe('followed-2');
      break;
    }
  });

  it('reads a statement as CSV', async () => {
    const since = '2020-01-01T00:00:00Z';
    const answer = await ferry.open('getStatement', { id: from, asset: 'USD', from: since }, 'text/csv');
    expect((await answer.text()).split('\r\n')[0]).toMatch(/amount/);
  });
});

describe('webhooks', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const body = JSON.stringify({
    id: 'e1',
    type: 'transfer.platform_transfer_debit.completed',
    data: { text: 'ü' },
  });
  const now = new Date('2026-01-15T09:30:00Z');
  const headers = {
    'webhook-id': 'e1',
    'webhook-timestamp': String(now.getTime() / 1_000),
    'webhook-signature': new Webhook(secret).sign('e1', now, body),
  };

  it('accepts what the reference library signs, with either of two secrets', async () => {
    const other = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
    const options = { now: now.getTime() };
    expect(await verifyWebhook(body, headers, secret, options)).toEqual(JSON.parse(body));
    expect(await verifyWebhook(Buffer.from(body), new Headers(headers), [other, secret], options)).toEqual(
      JSON.parse(body),
    );
    await expect(verifyWebhook(body, headers, other, options)).rejects.toBeInstanceOf(WebhookRefused);
  });

  it('refuses another body, an old request and missing headers', async () => {
    const at = (ms: number) => ({ now: now.getTime() + ms });
    await expect(verifyWebhook(`${body} `, headers, secret, at(0))).rejects.toThrow('No signature matches');
    await expect(verifyWebhook(body, headers, secret, at(301_000))).rejects.toThrow(
      'differs from this clock',
    );
    await expect(verifyWebhook(body, {}, secret, at(0))).rejects.toThrow('webhook-id is missing');
  });
});

describe('amounts', () => {
  it('are exact in both directions', () => {
    expect(toUnits('25.50', 2)).toBe(2550n);
    expect(toUnits('.5', 18)).toBe(500_000_000_000_000_000n);
    expect(fromUnits(2550n, 2)).toBe('25.5');
    expect(fromUnits(-1n, 2)).toBe('-0.01');
    expect(fromUnits(123n, 0)).toBe('123');
    expect(fromUnits(toUnits('99999999999999999999.999999999999999999', 18), 18)).toBe(
      '99999999999999999999.999999999999999999',
    );
    for (const wrong of ['', '.', '1e3', '-1', '1.', ' 1', '1,5']) expect(() => toUnits(wrong, 2)).toThrow();
    expect(() => toUnits('0.001', 2)).toThrow('0.001 has more than 2 decimals');
  });
});
