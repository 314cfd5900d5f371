import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SETTLEMENT_NETWORK } from '../../src/settlement/examples.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';

describe('the settlement network of operators', () => {
  let service: TestService;
  let operator: TestCustomer;
  const parties: { customer: TestCustomer; profile: string }[] = [];
  beforeAll(async () => {
    service = await startTestService();
    operator = await service.createCustomer({ scopes: ['operator:read'] });
    for (let count = 0; count < 3; count += 1) {
      const customer = await service.createCustomer();
      parties.push({ customer, profile: await service.createProfile(customer, { USD: '10' }) });
    }
  });
  afterAll(() => service?.stop());

  const network = async (): Promise<any> => {
    const { status, body } = await operator.call('GET', '/v2/operator/settlement-network');
    expect(status).toBe(200);
    return body;
  };
  const dayFrom = (ms: number): string => new Date(Date.now() + ms).toISOString();

  /** The party at one place owes the one at another. */
  async function owe(from: number, to: number, amount: string): Promise<string> {
    const [source, target] = [parties[from]!, parties[to]!];
    const { body } = await source.customer.call('POST', '/v2/settlement/transactions', {
      source_profile_id: source.profile,
      target_profile_id: target.profile,
      settlement_window_start: dayFrom(0),
      settlement_window_end: dayFrom(86_400_000),
      legs: [{ direction: 'DELIVER', asset: 'USD', amount }],
    });
    const affirmed = await target.customer.call('PUT', `/v2/settlement/transactions/${body.id}/affirm`);
    expect(affirmed.status).toBe(200);
    return body.id;
  }

  it('has the net of what two profiles owe each other, and then the set that settled together', async () => {
    const first = await owe(0, 1, '100');
    const [one, two] = [parties[0]!, parties[1]!];
    await expect
      .poll(async () => (await network()).obligations)
      .toEqual([
        {
          from_profile_id: one.profile,
          from_customer_id: one.customer.id,
          to_profile_id: two.profile,
          to_customer_id: two.customer.id,
          asset: 'USD',
          amount: '100',
          transactions: 1,
        },
      ]);
    const second = await owe(1, 2, '100');
    expect((await network()).obligations).toHaveLength(2);
    // Nobody has 100, and yet the ring can settle: each pays with what it receives.
    const third = await owe(2, 0, '95');
    await expect.poll(async () => (await network()).settled_together).toHaveLength(1);
    const { obligations, settled_together: sets, complete } = await network();
    expect(obligations).toEqual([]);
    expect(complete).toBe(true);
    expect(sets[0].transaction_ids.toSorted()).toEqual([first, second, third].toSorted());
    expect(sets[0].profile_ids.toSorted()).toEqual(parties.map(({ profile }) => profile).toSorted());
    expect(sets[0].assets).toEqual([{ asset: 'USD', gross: '295', net: '5' }]);
    expect(Object.keys(sets[0])).toEqual(Object.keys(SETTLEMENT_NETWORK.settled_together[0]!));
  });
});
