import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { newId } from '../../src/kernel/id.ts';
import { createConfigFiles, PRODUCTION, refusal } from '../support/config.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { hasLitecoind, payee, sandboxAccount, startLitecoin } from '../support/utxo-world.ts';
import { settingsOf } from './utxo-wallet.ts';

/** The whole service, with a rail from the configuration, on a real node. */

describe.runIf(hasLitecoind)('a configured rail of the kind utxo', () => {
  const files = createConfigFiles();
  let litecoin: Awaited<ReturnType<typeof startLitecoin>>;
  let account: string;
  let service: TestService;
  let customer: TestCustomer;

  const fileOf = (changes: object = {}) => {
    const { url, user } = litecoin.node.settings;
    const rail = {
      kind: 'utxo',
      chain: 'regtest',
      nodes: [{ url, user, password: { env: 'NODE_PASSWORD' } }],
      account,
      signer: 'embedded',
      confirmations: 1,
      fees: { max_rate: 100_000, fallback_rate: 2_000 },
      ...changes,
    };
    const env = files.withFile({ rails: { LITECOIN: rail } });
    return { ...env, NODE_PASSWORD: litecoin.node.settings.password } as Record<string, string>;
  };

  beforeAll(async () => {
    litecoin = await startLitecoin();
    account = (await sandboxAccount()).xpub;
    service = await startTestService({ ...fileOf(), FERRY_WORKERS: 'on' });
    customer = await service.createCustomer();
  });
  afterAll(async () => {
    await service?.stop();
    await litecoin?.node.stop();
    files.remove();
  });

  /** Mines when something waits for it, and otherwise lets the service read what there is. */
  async function pass(): Promise<void> {
    if ((await litecoin.node.rpc('getrawmempool')).length > 0) await litecoin.node.mine(1);
  }

  it('credits a deposit, and pays a withdrawal from its coins', async () => {
    const profileId = await service.createProfile(customer);
    let way: any;
    await until('the scanner has begun', async () => {
      way = await customer.call('POST', '/v2/transfer/deposit-addresses', {
        profile_id: profileId,
        crypto_network: 'LITECOIN',
      });
      if (way.status !== 200) throw new Error(JSON.stringify(way.body));
      return true;
    });
    expect(way.body.address).toMatch(/^rltc1q/);
    await litecoin.outsider.pay([{ address: way.body.address, units: 500_000_000n }]);
    const { address, local } = payee(1);
    let created: any;
    await until('the deposit is credited and can be withdrawn', async () => {
      await pass();
      created = await customer.call('POST', '/v2/transfer/crypto-withdrawals', {
        ref_id: newId(),
        profile_id: profileId,
        asset: 'LTC',
        amount: '1',
        crypto_network: 'LITECOIN',
        destination_address: address,
      });
      return created.status === 200;
    });
    let transfer: any;
    await until('the withdrawal is completed', async () => {
      await pass();
      transfer = (await customer.call('GET', `/v2/transfer/transfers/${created.body.id}`)).body;
      return transfer.status === 'COMPLETED';
    });
    expect(transfer).toMatchObject({
      crypto_tx_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      crypto_tx_index: '0',
    });
    const { driver } = litecoin.outsider.wallet;
    const { height } = await driver.head(AbortSignal.timeout(30_000));
    const { received } = await driver.block(height, (one) => one === local, AbortSignal.timeout(30_000));
    expect(received).toMatchObject([{ txHash: transfer.crypto_tx_hash, output: 0, units: 100_000_000n }]);
  });

  it('reports what it finds: chain, height, clock, coins and the signer', async () => {
    const findings = await readConfig(fileOf()).rails[0]!.check(AbortSignal.timeout(60_000));
    expect(findings.filter(({ isFault }) => isFault)).toEqual([]);
    const texts = findings.map(({ what, found }) => `${what}: ${found}`).join('\n');
    expect(texts).toContain('chain: LITECOIN (regtest)');
    expect(texts).toMatch(/wallet: 3\.99\d+ LTC at the first/);
    expect(texts).toContain('signer embedded: answers');
  });

  it('does not start with the account of other keys than the signer has', async () => {
    const other = readConfig(fileOf({ account: settingsOf('LITECOIN', []).account })).rails[0]!;
    const found = await other.check(AbortSignal.timeout(60_000));
    expect(found).toContainEqual({
      what: 'signer embedded',
      found: expect.stringContaining('has the keys of another account of LITECOIN'),
      isFault: true,
    });
  });

  it('has no signer inside the service in production', () => {
    expect(refusal({ ...PRODUCTION, ...fileOf() })).toContain(
      'rails.LITECOIN.signer must name the socket or the url of "ferry signer"',
    );
  });
});
