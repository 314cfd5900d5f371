import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { LIMITS } from '../../src/limits.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Two nodes on one database: the first one decides, the second one hands over to it. */
let service: TestService;
let otherUrl: string;
let customer: TestCustomer;
let from: string;
let to: string;

beforeAll(async () => {
  // A busy machine must not end a lease or a link.
  Object.assign(LIMITS, { nodeLeaseMs: 120_000, nodeLinkOpenMs: 120_000, nodeLinkSilenceMs: 120_000 });
  Object.assign(LIMITS, { metricsMs: 0 });
  service = await startTestService({ FERRY_NODE_LINK: 'on', FERRY_PUBLIC_URL: 'https://pay.example' });
  await until('the first node decides', async () => (await metric(service.url, 'ferry_node_decides')) === 1);
  otherUrl = await service.addNode();
  customer = await service.createCustomer();
  from = await service.createProfile(customer, { USD: '1000' });
  to = await service.createProfile(customer);
  await until('the second node hands over', async () => {
    await transfer({ amount: '0.01' });
    return (await handedOver()) > 0;
  });
});
afterAll(() => service.stop());

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

const handedOver = (): Promise<number> => metric(otherUrl, 'ferry_node_handed_over_total{how="replied"}');

async function call(url: string, method: string, path: string, body?: object) {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: customer.authorization,
      'x-request-id': 'request-of-the-second-node',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

/** At the second node. */
const transfer = (fields: object, kind = 'platform') =>
  call(otherUrl, 'POST', `/v2/transfer/${kind}`, {
    from_profile_id: from,
    to_profile_id: to,
    asset: 'USD',
    ...fields,
  });

/** Runs the work, and expects that the second node has handed over so many commands meanwhile. */
async function handingOver<T>(count: number, work: () => Promise<T>): Promise<T> {
  const [before, takenBefore] = [await handedOver(), await metric(service.url, 'ferry_node_taken_total')];
  const result = await work();
  expect((await handedOver()) - before).toBe(count);
  expect((await metric(service.url, 'ferry_node_taken_total')) - takenBefore).toBe(count);
  return result;
}

describe('a node that does not decide', () => {
  it.each(['platform', 'internal'])(
    'answers the %s transfer with what the deciding node made of it',
    async (kind) => {
      const refId = newId();
      const made = await handingOver(1, () =>
        transfer({ amount: '1.5', ref_id: refId, metadata: { ä: '\n"ü' } }, kind),
      );
      expect(made).toMatchObject({
        status: 200,
        body: { amount: '1.5', ref_id: refId, status: 'COMPLETED', metadata: { ä: '\n"ü' } },
      });
      expect(made.headers.get('idempotent-replayed')).toBeNull();
      const read = await customer.call('GET', `/v2/transfer/transfers/${made.body.id}`);
      expect(read.body).toEqual(made.body);
    },
  );

  it('answers a replay with the existing transfer, whichever node made it', async () => {
    const fields = { amount: '2', ref_id: newId() };
    const [first, again] = [await transfer(fields), await handingOver(1, () => transfer(fields))];
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const there = await call(service.url, 'POST', '/v2/transfer/platform', {
      from_profile_id: from,
      to_profile_id: to,
      asset: 'USD',
      ...fields,
    });
    expect(there).toMatchObject({ status: 200, body: first.body });
  });

  it('answers with the problem that the deciding node found', async () => {
    const used = { amount: '2', ref_id: newId() };
    await transfer(used);
    const [differing, poor, unknown] = await handingOver(3, async () => [
      await transfer({ ...used, amount: '3' }),
      await transfer({ amount: '1000000', ref_id: newId() }),
      await transfer({ amount: '1', to_profile_id: newId() }),
    ]);
    expect(differing).toMatchObject({
      status: 409,
      body: { meta: { differs: ['amount'], existing: { amount: '2' } } },
    });
    expect(poor).toMatchObject({ status: 403, body: { meta: { needed: '1000000' } } });
    expect(unknown).toMatchObject({ status: 404 });
  });

  it('refuses what is invalid by itself without handing it over', async () => {
    const invalid = await handingOver(0, () => transfer({ amount: '-1' }));
    expect(invalid.status).toBe(400);
  });

  it('hands over the transfers of a bulk, and keeps their order in the answer', async () => {
    const transfers = ['1', '1000000', '3'].map((amount) => ({
      from_profile_id: from,
      to_profile_id: to,
      asset: 'USD',
      amount,
      ref_id: newId(),
    }));
    const { body } = await handingOver(3, () =>
      call(otherUrl, 'POST', '/v2/transfer/platform/bulk', { transfers }),
    );
    expect(body.results.map((one: any) => [one.ref_id, one.status])).toEqual(
      transfers.map(({ ref_id }, index) => [ref_id, index === 1 ? 403 : 200]),
    );
  });

  it('has its callers in the audit log, with the ids of their requests', async () => {
    const { body } = await transfer({ amount: '1' });
    let actor: unknown;
    await until('the log has it', async () => {
      const log = await customer.call('GET', `/v2/audit-log?resource_ids=${body.id}`);
      actor = log.body.items[0]?.actor;
      return actor !== undefined;
    });
    expect(actor).toMatchObject({
      kind: 'CLIENT',
      customer_id: customer.id,
      from: '127.0.0.1',
      request_id: 'request-of-the-second-node',
    });
  });
});
