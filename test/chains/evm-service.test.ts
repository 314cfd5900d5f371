import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { newId } from '../../src/kernel/id.ts';
import { type Anvil, CHAIN_ID, LANE, MNEMONIC, startAnvil } from '../support/anvil.ts';
import { createConfigFiles, PRODUCTION, refusal } from '../support/config.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** The whole service, with a rail from the configuration, on a node that mines by itself. */

const files = createConfigFiles();
let anvil: Anvil;
let service: TestService;
let customer: TestCustomer;

const ASSETS = [
  { code: 'USD', decimals: 2, kind: 'FIAT' },
  { code: 'ETH', decimals: 18, kind: 'CRYPTO', networks: { BASE: 'native', ETHEREUM: 'native' } },
];
const railOf = (changes: object = {}) => ({
  kind: 'evm',
  chain_id: CHAIN_ID,
  nodes: [anvil?.url ?? 'http://127.0.0.1:1'],
  signer: 'embedded',
  confirmations: { depth: 2 },
  fees: { max_gwei: '100' },
  ...changes,
});
const fileOf = (changes: object = {}, assets: readonly object[] = ASSETS) =>
  files.withFile({ assets, rails: { BASE: railOf(changes) } });

beforeAll(async () => {
  anvil = await startAnvil();
  service = await startTestService({ ...(fileOf() as Record<string, string>), FERRY_WORKERS: 'on' });
  customer = await service.createCustomer();
});
afterAll(async () => {
  await service?.stop();
  await anvil?.stop();
  files.remove();
});

describe('a configured EVM rail', () => {
  it('sends a withdrawal of the API over the chain, and shows its transaction', async () => {
    const profileId = await service.createProfile(customer, { ETH: '5' });
    const to = `0x${newId().replaceAll('-', '')}00000001`;
    const created = await customer.call('POST', '/v2/transfer/crypto-withdrawals', {
      ref_id: newId(),
      profile_id: profileId,
      asset: 'ETH',
      amount: '1',
      crypto_network: 'BASE',
      destination_address: to,
    });
    expect(created).toMatchObject({ status: 200 });
    let transfer: any;
    await until('the withdrawal is completed', async () => {
      await anvil.mine();
      transfer = (await customer.call('GET', `/v2/transfer/transfers/${created.body.id}`)).body;
      return transfer.status === 'COMPLETED';
    });
    expect(transfer.crypto_tx_hash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await anvil.balance(to)).toBe(10n ** 18n);
  });

  it('reports what it finds: chain id, height, clock and what the lane holds', async () => {
    const { rails } = readConfig(fileOf());
    const findings = await rails[0]!.check(AbortSignal.timeout(30_000));
    const texts = findings.map(({ what, found }) => `${what}: ${found}`).join('\n');
    expect(texts).toContain(`chain id ${CHAIN_ID}, block `);
    expect(texts).toMatch(new RegExp(`lane ${LANE}: \\d+ units of ETH, next nonce 1`));
    const other = readConfig(fileOf({ chain_id: 1 }));
    expect(await other.rails[0]!.check(AbortSignal.timeout(30_000))).toMatchObject([
      { what: 'signer embedded', found: `answers, and has the keys of ${LANE}` },
      { found: `chain id ${CHAIN_ID}, and 1 is configured`, isFault: true },
    ]);
  });

  it('ends the start with one sentence if an entry is wrong', () => {
    const sentence = (changes: object, assets?: readonly object[]) => refusal(fileOf(changes, assets));
    expect(sentence({ nodes: [] })).toContain('rails.BASE.nodes');
    expect(sentence({ nodes: ['ws://node'] })).toContain(
      'rails.BASE.nodes[0] must be a URL that starts with https://',
    );
    expect(sentence({ nodes_agreeing: 3 })).toContain('rails.BASE.nodes_agreeing must be at most 1');
    expect(sentence({ fees: { max_gwei: '-1' } })).toContain('rails.BASE.fees.max_gwei');
    expect(sentence({ signer: { mnemonic: MNEMONIC } })).toContain('rails.BASE.signer.mnemonic is not');
    expect(sentence({ signer: { mnemonic: MNEMONIC } })).not.toContain('junk');
    const tls = { certificate: { env: 'NONE' }, key: { env: 'NONE' }, ca: { env: 'NONE' } };
    expect(sentence({ signer: { url: 'http://signer', ...tls } })).toContain(
      'rails.BASE.signer.url must be https:// with a host and a port',
    );
    expect(sentence({ signer: { url: 'https://signer:7', ...tls } })).toContain(
      'rails.BASE.signer.certificate.env names NONE',
    );
    expect(sentence({ signer: { socket: '/run/signer.sock' }, account: `xpub${'1'.repeat(107)}` })).toContain(
      'rails.BASE.lanes must list',
    );
    expect(sentence({ mnemonic: MNEMONIC })).not.toContain('junk');
    const token = { code: 'USDC', decimals: 6, kind: 'STABLECOIN', networks: { BASE: 'sandbox' } };
    expect(sentence({}, [...ASSETS, token])).toContain('rails.BASE needs the contract of USDC');
    expect(refusal({ ...PRODUCTION, ...fileOf() })).toContain(
      'rails.BASE.signer must name the socket or the url of "ferry signer"',
    );
  });
});
