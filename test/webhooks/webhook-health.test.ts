import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OK, type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';

describe('the health of webhooks for operators', () => {
  let service: TestService;
  let operator: TestCustomer;
  let customer: TestCustomer;
  let good: Receiver;
  let bad: Receiver;
  beforeAll(async () => {
    service = await startTestService();
    operator = await service.createCustomer({ scopes: ['operator:read'] });
    customer = await service.createCustomer();
    good = await startReceiver();
    good.behave(OK);
    bad = await startReceiver();
    bad.behave((_, response) => response.writeHead(500).end());
  });
  afterAll(async () => {
    await Promise.all([good?.close(), bad?.close()]);
    await service?.stop();
  });

  const health = async (): Promise<any> => {
    const { status, body } = await operator.call('GET', '/v2/operator/webhooks');
    expect(status).toBe(200);
    return body;
  };
  const endpoint = async (url: string): Promise<string> =>
    (await customer.call('POST', '/v2/events/webhooks', { url })).body.id;

  it('shows the endpoint that fails first, with its backlog, and how the others answer', async () => {
    expect(await health()).toEqual({ delivering: 0, failing: 0, disabled: 0, items: [] });
    const [answers, fails, off] = [
      await endpoint(good.url),
      await endpoint(bad.url),
      await endpoint(good.url),
    ];
    await customer.call('PUT', `/v2/events/webhooks/${off}`, { enabled: false });
    const [from, to] = [
      await service.createProfile(customer, { USD: '10' }),
      await service.createProfile(customer),
    ];
    const paid = await customer.call('POST', '/v2/transfer/platform', {
      from_profile_id: from,
      to_profile_id: to,
      asset: 'USD',
      amount: '1',
    });
    expect(paid.status).toBe(200);
    await expect.poll(async () => (await health()).failing).toBe(1);
    await expect
      .poll(async () => (await health()).items.map((one: any) => [one.webhook_id, one.state]))
      .toEqual([
        [fails, 'FAILING'],
        [off, 'DISABLED'],
        [answers, 'DELIVERING'],
      ]);
    await expect.poll(async () => (await health()).items[2].latest).toContain('DELIVERED');
    const [first, second, third] = (await health()).items;
    expect(first).toMatchObject({
      customer_id: customer.id,
      url: bad.url,
      latest: expect.arrayContaining(['PENDING']),
    });
    expect(first.pending).toBeGreaterThan(0);
    expect(Date.parse(first.failing_since)).toBeGreaterThanOrEqual(Date.parse(first.oldest_pending_at));
    expect(second).toMatchObject({ failures: 0, pending: 0, latest: [] });
    expect(third).toMatchObject({ failures: 0, url: good.url });
  });
});
