import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_ASSETS } from '../../src/networks/default-assets.ts';
import { TREASURY } from '../../src/treasury/examples.ts';
import { type Anvil, CHAIN_ID, LANE, startAnvil } from '../support/anvil.ts';
import { createConfigFiles } from '../support/config.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** The operations of the treasury over HTTP, with a rail from the configuration on a real node. */

const COLD = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const files = createConfigFiles();
let anvil: Anvil;
let service: TestService;
let operator: TestCustomer;

beforeAll(async () => {
  anvil = await startAnvil();
  const assets = DEFAULT_ASSETS.filter(({ code }) => ['USD', 'ETH'].includes(code)).map((asset) => ({
    ...asset,
    ...(asset.code === 'ETH' && { networks: { ETHEREUM: 'native' } }),
  }));
  const entry = {
    kind: 'evm',
    chain_id: CHAIN_ID,
    nodes: [anvil.url],
    signer: 'embedded',
    confirmations: { depth: 2 },
    fees: { max_gwei: '100' },
    low_mark: '20000',
    high_mark: '30000',
    cold_address: COLD,
    sweep_min: { ETH: '0.1' },
  };
  const env = files.withFile({ assets, rails: { ETHEREUM: entry } }) as Record<string, string>;
  service = await startTestService({ ...env, FERRY_WORKERS: 'on' });
  operator = await service.createCustomer();
});
afterAll(async () => {
  await service?.stop();
  await anvil?.stop();
  files.remove();
});

const treasury = async () => (await operator.call('GET', '/v2/operator/treasury')).body;

describe('the treasury', () => {
  it('shows wallets beside the ledger with the fields of the example, and names alarms', async () => {
    await until('the wallets were looked at', async () => {
      await anvil.mine(2);
      return (await treasury()).networks[0]?.wallets.length > 0;
    });
    const { networks, alarms } = await treasury();
    const [network] = networks;
    const [example] = TREASURY.networks;
    expect(Object.keys(network).sort()).toEqual(Object.keys(example!).sort());
    const [wallet] = network.wallets;
    // There is a difference: nobody has booked what the wallet holds.
    const { differs_since: since, ...others } = wallet;
    expect(since).toEqual(expect.any(String));
    expect(Object.keys(others).sort()).toEqual(Object.keys(example!.wallets[0]!).sort());
    for (const part of ['on_chain', 'ledger', 'in_flight'] as const)
      expect(Object.keys(wallet[part]).sort()).toEqual(Object.keys(example!.wallets[0]![part]).sort());
    expect(wallet).toMatchObject({
      asset: 'ETH',
      on_chain: { hot: '10000', cold: '10000', deposit_addresses: '0' },
      ledger: { hot: '0', cold: '0', network_fees: '0' },
      difference: '10000',
      low_mark: '20000',
      high_mark: '30000',
      level: 'BELOW_LOW',
    });
    expect(alarms).toEqual([
      {
        rail: 'ETHEREUM',
        asset: 'ETH',
        reason: 'below-low-mark',
        detail: 'The hot wallet has 10000 ETH, the low mark is 20000.',
      },
    ]);
  });

  it('has no difference once the funds are booked', async () => {
    const booked = await operator.call('POST', '/v2/operator/journal-entries', {
      ref_id: 'funding',
      kind: 'TREASURY_FUNDING',
      asset: 'ETH',
      amount: '10000',
      rail: 'ETHEREUM',
      account: LANE,
      reference: 'opening',
      reason: 'What the wallet had before.',
    });
    expect(booked.status).toBe(200);
    expect((await treasury()).networks[0].wallets[0].ledger.hot).toBe('10000');
  });

  it('is a metric for each alarm', async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    expect(text).toContain('ferry_treasury_alarms{rail="ETHEREUM",asset="ETH",reason="below-low-mark"} 1');
    expect(text).toMatch(/ferry_treasury_hot\{rail="ETHEREUM",asset="ETH"\} 10000/);
  });

  it('makes a transaction for a refill, and says what is wrong with an order', async () => {
    const refill = (body: object) => operator.call('POST', '/v2/operator/treasury/refills', body);
    const order = { network: 'ETHEREUM', asset: 'ETH', amount: '20.0' };
    expect((await refill(order)).body).toMatchObject({
      amount: '20',
      cold_address: COLD,
      format: 'EVM_TRANSACTION',
      content: expect.stringMatching(/^0x02/),
      summary: { from: COLD, to: LANE, value: '20000000000000000000', nonce: '0' },
    });
    expect((await refill({ ...order, network: 'BASE' })).body.detail).toContain(
      '/network must be one of ETHEREUM',
    );
    expect((await refill({ ...order, asset: 'USD' })).body.detail).toContain('is not an asset on ETHEREUM');
    expect((await refill({ ...order, amount: '0' })).status).toBe(400);
  });

  it('cancels nothing that is not there', async () => {
    const cancel = (body: object) => operator.call('POST', '/v2/operator/treasury/cancellations', body);
    const id = '019bc0fd-8ba2-7534-b534-28d9a1f6e3ad';
    const missing = await cancel({ network: 'ETHEREUM', transfer_id: id, reason: 'x' });
    expect(missing).toMatchObject({ status: 404, body: { meta: { resource: 'payment', id } } });
    expect((await cancel({ network: 'ETHEREUM', reason: 'x' })).status).toBe(400);
  });

  it('is only for operators', async () => {
    const other = await service.createCustomer({ scopes: ['funding:read_profile'] });
    expect((await other.call('GET', '/v2/operator/treasury')).status).toBe(403);
  });
});
