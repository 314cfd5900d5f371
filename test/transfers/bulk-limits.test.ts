import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limitCustomer } from '../../src/auth/administration.ts';
import { createUsage } from '../../src/http/usage.ts';
import { newId } from '../../src/kernel/id.ts';
import type { Caller } from '../../src/kernel/route.ts';
import { LIMITS } from '../../src/limits.ts';
import { expectProblem, startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { balanceOf } from '../support/transfers.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

async function customerWith(
  pointsPerSecond: number,
): Promise<{ customer: TestCustomer; from: string; to: string }> {
  const customer = await service.createCustomer();
  await limitCustomer(service.database, customer.id, pointsPerSecond);
  const from = await service.createProfile(customer, { USD: '1000' });
  return { customer, from, to: await service.createProfile(customer) };
}

const ordersOf = (from: string, to: string, count: number) =>
  Array.from({ length: count }, () => ({
    from_profile_id: from,
    to_profile_id: to,
    asset: 'USD',
    amount: '1',
    ref_id: newId(),
  }));

it('costs a point for each transfer, and what the budget cannot hold is paid afterwards', async () => {
  // Two points a second for the client: paying the debt takes minutes.
  const { customer, from, to } = await customerWith(4);
  const send = (count: number) =>
    customer.call('POST', '/v2/transfer/platform/bulk', { transfers: ordersOf(from, to, count) });
  const first = await send(400);
  expect(first.status).toBe(200);
  expect(first.headers.get('ratelimit')).toMatch(/^"client";r=0;t=\d{2,}, "customer";r=0;t=\d{2,}$/);
  const meta = expectProblem(await send(1), 429, 'rate-limited');
  expect(meta.retry_after_ms).toBeGreaterThan(1_000);
  expect((await balanceOf(service, to, 'USD')).available).toBe('400');
});

it('that is refused by the rate executes nothing', async () => {
  const { customer, from, to } = await customerWith(400);
  const path = '/v2/transfer/platform/bulk';
  const answers = await Promise.all(
    [150, 150, 150, 150, 150, 150].map((count) =>
      customer.call('POST', path, { transfers: ordersOf(from, to, count) }),
    ),
  );
  const executed = answers.filter(({ status }) => status === 200).length;
  expect(executed).toBeGreaterThan(0);
  expect((await balanceOf(service, to, 'USD')).available).toBe(String(executed * 150));
});

const CALLER: Caller = {
  customerId: newId(),
  clientId: 'client',
  scopes: new Set(),
  integration: 'FIRST_PARTY',
  pointsPerSecond: 1_000_000,
};

function response(socket: Socket): ServerResponse {
  return Object.assign(new EventEmitter(), { req: { socket }, closed: false }) as unknown as ServerResponse;
}

it('counts as so many requests in flight, until it is answered', () => {
  const usage = createUsage();
  const socket = {} as Socket;
  const [first, second] = [response(socket), response(socket)];
  const half = LIMITS.clientRequestsMax / 2;
  usage.enter(CALLER, 'write', 1, first);
  usage.countAs(CALLER, 'write', half, 1, first);
  // The share of the only customer is everything.
  expect(usage.isWithinShare(socket, 'write', half + 1)).toBe(true);
  expect(usage.isWithinShare(socket, 'write', half)).toBe(false);
  usage.enter(CALLER, 'write', 1, second);
  expect(() => usage.countAs(CALLER, 'write', half + 1, 1, second)).toThrow(
    `has ${half} requests in flight. With the ${half + 1} of this one it would exceed the maximum of ${LIMITS.clientRequestsMax}.`,
  );
  usage.countAs(CALLER, 'write', half, 1, second);
  first.emit('close');
  expect(usage.isWithinShare(socket, 'write', half + 1)).toBe(true);
  second.emit('close');
  expect(usage.isWithinShare(socket, 'write', 1)).toBe(true);
  const { inFlight } = usage.enter(CALLER, 'write', 1, response(socket));
  expect(inFlight).toBe(1);
});
