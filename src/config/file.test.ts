import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createConfigFiles, PRODUCTION, refusal } from '../../test/support/config.ts';
import { DEFAULT_ASSETS } from '../networks/default-assets.ts';
import { readConfig } from './config.ts';

const { directory, withFile, remove } = createConfigFiles();
afterAll(remove);

const usd = { code: 'USD', decimals: 2, kind: 'FIAT', networks: {} };
const gold = { code: 'XAU', decimals: 4, kind: 'CRYPTO', networks: { ETHEREUM: '0x1' } };
const issuer = {
  issuer: 'https://login.example',
  jwks_url: 'https://login.example/keys',
  audience: 'ferry',
  customer_claim: 'tenant',
};

describe('a configuration file', () => {
  it('replaces the assets, changes fees, and sets prices and the external issuer', () => {
    const config = readConfig(
      withFile({
        assets: [usd, gold],
        fees: { fiat: { wire: '12.5', cubix: '0' }, crypto: { XAU: { ETHEREUM: '0.0003' } } },
        prices: { XAU: '4000' },
        external_issuer: {
          issuer: 'https://login.example',
          jwks_url: 'https://login.example/keys',
          audience: 'ferry',
          customer_claim: 'tenant',
        },
      }),
    );
    expect(config.assets.list).toEqual([usd, gold]);
    expect(config.fees.fiat('wire')).toBe(1_250n);
    expect(config.fees.crypto('XAU', 'ETHEREUM')).toBe(3n);
    expect(config.fees.crypto('BTC', 'BITCOIN')).toBeUndefined();
    expect(config.prices.find('XAU')).toBe(4_000n * 10n ** 18n);
    expect(config.prices.find('BTC')).toBeUndefined();
    expect(config.externalIssuer).toEqual({
      issuer: 'https://login.example',
      jwksUrl: 'https://login.example/keys',
      audience: 'ferry',
      customerClaim: 'tenant',
    });
  });

  it('may omit the networks of an asset, which then has none, and mark it as minted by the operator', () => {
    const { networks: _none, ...inside } = usd;
    const own = { ...gold, code: 'XUSD', kind: 'STABLECOIN' };
    const config = readConfig(withFile({ assets: [inside, { ...own, operator_minted: true }] }));
    expect(config.assets.list).toEqual([usd, { ...own, operatorMinted: true }]);
  });

  it('may be the example of the documentation, which has every entry', () => {
    const text = readFileSync(resolve(import.meta.dirname, '../../docs/operations.md'), 'utf8');
    const [, example] = /^```json\n([\s\S]*?)^```$/m.exec(text)!;
    const env = { ...PRODUCTION, FERRY_OPENID_SECRET: 'of the provider' };
    const config = readConfig({ ...env, ...withFile(example) });
    expect(config.assets.list.map(({ code }) => code)).toEqual(['USD', 'EUR', 'BTC', 'USDC', 'HUSD']);
    expect(config.assets.get('HUSD').operatorMinted).toBe(true);
    // Fees that the file sets, and fees that keep their default.
    expect([config.fees.fiat('wire'), config.fees.fiat('cubix')]).toEqual([2_500n, 0n]);
    expect(config.fees.crypto('BTC', 'BITCOIN')).toBe(15_000n);
    expect(config.fees.crypto('USDC', 'ETHEREUM')).toBe(2_000_000n);
    expect(config.fees.deposit('wire', 'USD')).toBe(1_000n);
    expect(config.fees.deposit('wire', 'EUR')).toBe(900n);
    expect(config.fees.deposit('BITCOIN', 'BTC')).toBe(1_000n);
    expect(config.prices.find('HUSD')).toBe(10n ** 18n);
    expect(config.rentLamportsPerDayMax).toBe(readConfig({}).rentLamportsPerDayMax);
    expect(config.externalIssuer).toMatchObject({ audience: 'ferry', customerClaim: 'tenant' });
    expect(config.openIdProvider).toEqual({
      issuer: 'https://login.example',
      clientId: 'ferry',
      clientSecret: 'of the provider',
      name: 'Example Login',
    });
  });

  it('has deposit fees for each rail and asset: a pair that is not configured has none, not even zero', () => {
    const eur = { code: 'EUR', decimals: 2, kind: 'FIAT', networks: {} };
    const of = (deposits: object) =>
      readConfig(withFile({ assets: [usd, eur, gold], fees: { deposits } })).fees;
    expect(of({ fiat: { wire: '10' } }).deposit('wire', 'USD')).toBe(1_000n);
    expect(of({ fiat: { wire: '10' } }).deposit('wire', 'EUR')).toBeUndefined();
    expect(of({ fiat: { wire: '10' } }).deposit('cubix', 'USD')).toBe(0n);
    const both = of({ fiat: { wire: { EUR: '9' } }, crypto: { XAU: { ETHEREUM: '0.0001' } } });
    expect([both.deposit('wire', 'USD'), both.deposit('wire', 'EUR')]).toEqual([0n, 900n]);
    expect(both.deposit('cubix', 'EUR')).toBeUndefined();
    expect(both.deposit('ETHEREUM', 'XAU')).toBe(1n);
    expect(of({}).deposit('ETHEREUM', 'XAU')).toBe(0n);
    for (const [rail, asset] of [
      ['SOLANA', 'XAU'],
      ['wire', 'XAU'],
      ['ETHEREUM', 'USD'],
      ['wire', 'GBP'],
      ['pigeon', 'USD'],
    ] as const) {
      expect(both.deposit(rail, asset)).toBeUndefined();
    }
  });

  it('may be an empty object, which changes nothing', () => {
    const config = readConfig(withFile({}));
    expect(config.assets.list).toEqual(DEFAULT_ASSETS);
    expect(config.fees.fiat('wire')).toBe(2_000n);
  });
});

const NETWORKS = 'BITCOIN, ETHEREUM, BITCOIN_CASH, LITECOIN, SOLANA, POLYGON_POS, BASE, ARBITRUM_ONE, INK';
const DECIMAL = 'must be a decimal string such as "0.5"';

describe('a file of the wrong shape is refused, with the entry, its value and what would be right', () => {
  it.each([
    ['null', 'the file must be an object, not null'],
    ['[]', 'the file must be an object, not []'],
    ['1', 'the file must be an object, not 1'],
    ['"x"', 'the file must be an object, not "x"'],
    ['{"assets": {}}', 'assets must be a list, not {}'],
    ['{"assets": [null]}', 'assets[0] must be an object, not null'],
    [
      '{"openid_provider": {"issuer": "https://id.example", "client_id": "x", "client_secret": "x"}}',
      'openid_provider.client_secret must be an object with env or file, which names where the secret is, not "x"',
    ],
    ['{"external_issuer": null}', 'external_issuer must be an object, not null'],
    ['{"fees": null}', 'fees must be an object, not null'],
    ['{"prices": ["1"]}', 'prices must be an object, not ["1"]'],
    ['{"prices": {"__proto__": 1}}', `prices.__proto__ ${DECIMAL}, not 1`],
    ['{"prices": {"a.b": 1}}', `prices["a.b"] ${DECIMAL}, not 1`],
  ])('%s', (text, clause) => {
    expect(refusal(withFile(text))).toBe(`FERRY_CONFIG: ${clause}.`);
  });

  it.each([
    [
      { code: undefined },
      'code is missing: it must be 2 to 12 capital letters or digits that start with a letter',
    ],
    [{ code: 840 }, 'code must be 2 to 12 capital letters or digits that start with a letter, not 840'],
    [{ code: 'xau' }, 'code must be 2 to 12 capital letters or digits that start with a letter, not "xau"'],
    [{ decimals: undefined }, 'decimals is missing: it must be an integer from 0 to 18'],
    [{ decimals: '2' }, 'decimals must be an integer from 0 to 18, not "2"'],
    [{ decimals: 19 }, 'decimals must be an integer from 0 to 18, not 19'],
    [{ decimals: 0.5 }, 'decimals must be an integer from 0 to 18, not 0.5'],
    [{ kind: undefined }, 'kind is missing: it must be one of FIAT, CRYPTO, STABLECOIN'],
    [{ kind: 'fiat' }, 'kind must be one of FIAT, CRYPTO, STABLECOIN, not "fiat"'],
    [{ asset: 'XAU' }, 'asset is not a known entry: use code, decimals, kind, networks, operator_minted'],
    [{ networks: ['ETHEREUM'] }, 'networks must be an object, not ["ETHEREUM"]'],
    [{ networks: { ETHERIUM: 'native' } }, `networks.ETHERIUM is not a known entry: use ${NETWORKS}`],
    [{ networks: { ETHEREUM: true } }, 'networks.ETHEREUM must be a non-empty string, not true'],
    [{ operator_minted: 'yes' }, 'operator_minted must be true or false, not "yes"'],
  ])('an asset with %j', (change, clause) => {
    expect(refusal(withFile({ assets: [usd, { ...gold, ...change }] }))).toBe(
      `FERRY_CONFIG: assets[1].${clause}.`,
    );
  });

  it.each([
    [
      { asets: [] },
      'asets is not a known entry: use assets, fees, prices, external_issuer, openid_provider, rails, four_eyes, screening, rent_lamports_per_day_max',
    ],
    [{ fees: { tea: {} } }, 'fees.tea is not a known entry: use fiat, crypto, deposits'],
    [{ fees: { fiat: { wire: 20 } } }, `fees.fiat.wire ${DECIMAL}, not 20`],
    [{ fees: { crypto: { BTC: '1' } } }, 'fees.crypto.BTC must be an object, not "1"'],
    [{ fees: { deposits: { tea: {} } } }, 'fees.deposits.tea is not a known entry: use fiat, crypto'],
    [
      { fees: { deposits: { fiat: { wire: ['1'] } } } },
      `fees.deposits.fiat.wire ${DECIMAL}, or an object with one for each asset, not ["1"]`,
    ],
    [{ fees: { deposits: { fiat: { wire: { USD: 1 } } } } }, `fees.deposits.fiat.wire.USD ${DECIMAL}, not 1`],
    [{ prices: { BTC: 65_000 } }, `prices.BTC ${DECIMAL}, not 65000`],
    [{ rent_lamports_per_day_max: 1 }, 'rent_lamports_per_day_max must be a string of 1 to 18 digits, not 1'],
    [
      { rent_lamports_per_day_max: '-1' },
      'rent_lamports_per_day_max must be a string of 1 to 18 digits, not "-1"',
    ],
  ])('%j', (content, clause) => {
    expect(refusal(withFile(content))).toBe(`FERRY_CONFIG: ${clause}.`);
  });

  it.each([
    [{ jwks_uri: 'x' }, 'jwks_uri is not a known entry: use issuer, jwks_url, audience, customer_claim'],
    [{ jwks_url: undefined }, 'jwks_url is missing: it must be a non-empty string'],
    [{ audience: 1 }, 'audience must be a non-empty string, not 1'],
    [{ customer_claim: '' }, 'customer_claim must be a non-empty string, not ""'],
    [
      { jwks_url: 'ftp://a.example' },
      'jwks_url must be a URL that starts with https:// or http://, not "ftp://a.example"',
    ],
    [{ jwks_url: 'keys' }, 'jwks_url must be a URL that starts with https:// or http://, not "keys"'],
  ])('an issuer with %j', (change, clause) => {
    expect(refusal(withFile({ external_issuer: { ...issuer, ...change } }))).toBe(
      `FERRY_CONFIG: external_issuer.${clause}.`,
    );
  });

  it('a long value is cut', () => {
    const message = refusal(withFile({ prices: { BTC: { text: 'x'.repeat(1_000) } } }));
    expect(message).toMatch(/^FERRY_CONFIG: prices\.BTC must be .*, not \{"text":"x+…\.$/);
    expect(message.length).toBeLessThan(200);
  });
});

describe('a file whose values do not fit together is refused', () => {
  it.each([
    ['an asset twice', { assets: [usd, usd] }, 'assets[1].code must be unique, but assets[0] is USD too'],
    [
      'fiat money on a blockchain',
      { assets: [{ ...gold, kind: 'FIAT' }] },
      'assets[0].networks must be empty for fiat money, not {"ETHEREUM":"0x1"}',
    ],
    ['no USD', { assets: [gold] }, 'the asset USD must be configured'],
    ['a price of no asset', { prices: { DOGE: '1' } }, 'prices.DOGE must name a configured asset'],
    ['a price of zero', { prices: { BTC: '0' } }, 'prices.BTC must be greater than zero'],
    ['a fee of an unknown rail', { fees: { fiat: { pigeon: '1' } } }, 'fees.fiat.pigeon'],
    ['a fee below zero', { fees: { fiat: { wire: '-1' } } }, 'fees.fiat.wire'],
    ['a fee below a cent', { fees: { fiat: { wire: '0.001' } } }, 'fees.fiat.wire has 3 decimals'],
    ['a fee of an unknown asset', { fees: { crypto: { XAU: {} } } }, 'fees.crypto.XAU'],
    [
      'a fee on a network that the asset is not on',
      { fees: { crypto: { BTC: { SOLANA: '1' } } } },
      'fees.crypto.BTC.SOLANA',
    ],
    [
      'a deposit fee of an unknown asset',
      { fees: { deposits: { fiat: { wire: { GBP: '1' } } } } },
      'fees.deposits.fiat.wire.GBP must name a configured asset of the kind FIAT',
    ],
    [
      'a deposit fee of a bank rail in a coin',
      { fees: { deposits: { fiat: { wire: { BTC: '1' } } } } },
      'fees.deposits.fiat.wire.BTC',
    ],
  ])('%s', (_title, content, named) => {
    const message = refusal(withFile(content));
    expect(message).toMatch(/^FERRY_CONFIG: /);
    expect(message).toContain(named);
  });
});

describe('a file that cannot be read is refused', () => {
  it.each([['{"assets": ['], ['{\n  "assets": [}\n}\n'], ['']])('%j is not JSON', (text) => {
    expect(refusal(withFile(text))).toMatch(/^FERRY_CONFIG must name a readable JSON file: /);
  });

  it('a file that does not exist, and a directory', () => {
    expect(refusal({ FERRY_CONFIG: '/no/such/file.json' })).toMatch(
      /^FERRY_CONFIG must name a readable JSON file: /,
    );
    expect(refusal({ FERRY_CONFIG: directory })).toMatch(/^FERRY_CONFIG must name a readable JSON file: /);
  });
});
