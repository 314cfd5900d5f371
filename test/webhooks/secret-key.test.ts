import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, createCustomer } from '../../src/auth/administration.ts';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { readConfig } from '../../src/config/config.ts';
import { assemble, type Service } from '../../src/main.ts';
import { vaultOf } from '../../src/vault.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { emit } from '../support/events.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

const WEBHOOKS = '/v2/events/webhooks';
const KEY = randomBytes(32).toString('base64');
const OTHER_KEY = randomBytes(32).toString('base64');

type Line = { level: number; msg: string; endpoint?: string };
const ERROR = 50;
const WARN = 40;

let test: TestDatabase;
let target: Receiver;
let customerId: string;
let credentials: { clientId: string; clientSecret: string };
beforeAll(async () => {
  test = await createTestDatabase();
  target = await startReceiver();
  const customer = await createCustomer(test.database, { name: 'Keys', integration: 'FIRST_PARTY' });
  customerId = customer.id;
  const vault = await vaultOf({ secretKey: Buffer.from(KEY, 'base64') }, test.database);
  const request = { customer: customer.id, name: 'x', scopes: SCOPE_NAMES };
  credentials = await createClient(test.database, vault, request);
});
afterAll(async () => {
  await target.close();
  await test.drop();
});

/** The service on the database of this file, started with that key, and its log. */
async function withKey(
  key: string,
  work: (node: {
    service: Service;
    lines: Line[];
    call(method: string, path: string, body?: object): Promise<{ status: number; body: any }>;
  }) => Promise<void>,
): Promise<void> {
  const lines: Line[] = [];
  const logger = pino({ level: 'info' }, { write: (text: string) => void lines.push(JSON.parse(text)) });
  const config = readConfig({ PORT: '0', FERRY_WORKERS: 'off', FERRY_SECRET_KEY: key });
  const service = await assemble({ config, database: test.database, logger });
  await service.start();
  try {
    const { clientId, clientSecret } = credentials;
    const answer = await fetch(`${service.url()}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const { access_token: token } = (await answer.json()) as { access_token: string };
    await work({
      service,
      lines,
      async call(method, path, body) {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const response = await fetch(service.url() + path, {
          method,
          headers,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return { status: response.status, body: await response.json() };
      },
    });
  } finally {
    await service.stop();
  }
}

describe('a FERRY_SECRET_KEY that did not seal the secrets of the database', () => {
  let id: string;
  let secret: string;
  const ENDPOINT = { ref_id: 'mine' };

  it('is not reported while it is the right one', async () => {
    await withKey(KEY, async ({ call }) => {
      ({ id, secret } = (await call('POST', WEBHOOKS, { ...ENDPOINT, url: target.url })).body);
      expect(secret).toMatch(/^whsec_/);
    });
    await withKey(KEY, async ({ call, lines }) => {
      expect((await call('POST', `${WEBHOOKS}/${id}/test`)).body.status).toBe('DELIVERED');
      expect(lines.filter(({ level }) => level >= WARN)).toEqual([]);
    });
  });

  it('is reported once at the start; nothing is sent, nothing counts as an attempt, and the log stays quiet', async () => {
    target.hits.length = 0;
    await withKey(OTHER_KEY, async ({ service, call, lines }) => {
      const errors = lines.filter(({ level }) => level === ERROR);
      expect(errors.map(({ msg }) => msg)).toEqual([
        expect.stringContaining('FERRY_SECRET_KEY does not decrypt'),
      ]);
      for (let count = 0; count < 3; count += 1) await service.writePath.submit(emit(customerId, [{}]));
      const deliveries = async () => (await call('GET', `${WEBHOOKS}/${id}/deliveries`)).body.items;
      await until('the deliveries show why nothing is sent', async () =>
        (await deliveries()).some((one: any) => /secret/.test(one.error)),
      );
      // A tight loop would log dozens of lines in that time.
      await sleep(500);
      expect(lines.filter(({ level }) => level >= WARN && level < ERROR)).toEqual([
        expect.objectContaining({ endpoint: id, msg: expect.stringContaining('FERRY_SECRET_KEY') }),
      ]);
      for (const one of await deliveries()) {
        if (one.trigger !== 'EVENT') continue;
        expect(one).toMatchObject({ status: 'PENDING', attempts: 0 });
        expect(one).not.toHaveProperty('request');
      }
      expect(target.hits).toEqual([]);
    });
  });

  it('makes tests of the endpoint fail with a problem that names the remedy', async () => {
    await withKey(OTHER_KEY, async ({ call }) => {
      for (const answer of [await call('POST', `${WEBHOOKS}/${id}/test`)]) {
        expect(answer.status).toBe(409);
        expect(answer.body).toMatchObject({
          type: expect.stringMatching(/\/invalid-state$/),
          detail: expect.stringContaining('Rotate the secret'),
          meta: { status: 'SECRET_UNREADABLE' },
        });
      }
      const differing = await call('POST', WEBHOOKS, { ...ENDPOINT, url: `${target.url}/elsewhere` });
      expect(differing.body.type).toMatch(/\/already-exists$/);
    });
  });

  it('no longer affects an endpoint whose secret was rotated: all that waited is sent, signed with the new secret alone', async () => {
    await withKey(OTHER_KEY, async ({ call }) => {
      const rotated = await call('POST', `${WEBHOOKS}/${id}/rotate-secret`);
      expect(rotated.status).toBe(200);
      expect(rotated.body.secret).not.toBe(secret);
      expect(rotated.body).not.toHaveProperty('previous_secret_expires_at');
      await until('the waiting events arrive', () => target.hits.length === 3);
      for (const hit of target.hits) {
        expect(String(hit.headers['webhook-signature']).split(' ')).toHaveLength(1);
        new Webhook(rotated.body.secret).verify(hit.text, hit.headers as Record<string, string>);
      }
      expect((await call('POST', `${WEBHOOKS}/${id}/test`)).body.status).toBe('DELIVERED');
    });
    await withKey(OTHER_KEY, async ({ lines }) => {
      expect(lines.filter(({ level }) => level >= WARN)).toEqual([]);
    });
  });

  it('does not keep a new secret from signing because the previous one cannot be opened', async () => {
    // As a rotation under the wrong key could leave it: the current secret is readable, the previous one is not.
    await test.database.query(
      'update webhook_endpoints set previous_secret = $2, previous_until_ns = $3 where id = $1',
      [id, `v1:${randomBytes(80).toString('base64')}`, 2n ** 62n],
    );
    await withKey(OTHER_KEY, async ({ call }) => {
      expect((await call('POST', `${WEBHOOKS}/${id}/test`)).body.status).toBe('DELIVERED');
    });
  });
});
