import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_ASSETS } from '../networks/default-assets.ts';
import { ConfigError, readConfig } from './config.ts';

const directory = mkdtempSync(join(tmpdir(), 'ferry-config-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

type Environment = Parameters<typeof readConfig>[0];

const PRODUCTION = {
  FERRY_MODE: 'production',
  DATABASE_URL: 'postgres://ferry:geheim@db.example/ferry',
  FERRY_PUBLIC_URL: 'https://pay.example',
};

/** FERRY_CONFIG with that in it. */
function withFile(content: unknown): Environment {
  const path = join(directory, 'ferry.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return { FERRY_CONFIG: path };
}

/** The one sentence that the start ends with. */
function refusal(env: Environment): string {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    const { message } = error as Error;
    expect(message).not.toContain('\n');
    expect(message).toMatch(/[^.]\.$/);
    return message;
  }
  throw new Error('not refused');
}

describe('an empty environment', () => {
  it('is a sandbox on 127.0.0.1:8080 with the embedded server, demo prices and a quiet log', () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      mode: 'sandbox',
      host: '127.0.0.1',
      port: 8080,
      databaseUrl: undefined,
      publicUrl: undefined,
      logLevel: 'warn',
      externalIssuer: undefined,
    });
    expect(config.assets.list).toEqual(DEFAULT_ASSETS);
    expect(config.fees.fiat('wire')).toBe(2_000n);
    expect(config.fees.crypto('BTC', 'BITCOIN')).toBe(10_000n);
    expect(config.prices.find('USDC')).toBe(10n ** 18n);
  });

  it('is the same as one with empty values', () => {
    const names = ['PORT', 'HOST', 'DATABASE_URL', 'FERRY_DATA_DIR', 'FERRY_MODE', 'FERRY_PUBLIC_URL'];
    const empty = Object.fromEntries([...names, 'FERRY_CONFIG', 'LOG_LEVEL'].map((name) => [name, '']));
    const { mode, host, port, databaseUrl, dataDir, publicUrl, logLevel, assets } = readConfig({});
    expect(readConfig(empty)).toMatchObject({ mode, host, port, databaseUrl, dataDir, publicUrl, logLevel });
    expect(readConfig(empty).assets.list).toEqual(assets.list);
  });
});

describe('PORT', () => {
  it.each(['0', '1', '80', '8080', '65535'])('may be %s', (port) => {
    expect(readConfig({ PORT: port }).port).toBe(Number(port));
  });

  it.each(['65536', '70000', '-1', '80.5', '8e3', '0x50', 'eighty', ' 80', '80 ', '٨٠', '999999'])(
    'is not "%s"',
    (port) => {
      expect(refusal({ PORT: port })).toBe(`PORT must be a number from 0 to 65535, not "${port}".`);
    },
  );
});

describe('HOST', () => {
  it.each(['0.0.0.0', '127.0.0.1', '::', '::1', 'localhost', 'pay-1.example', 'a'])('may be %s', (host) => {
    expect(readConfig({ HOST: host }).host).toBe(host);
  });

  it.each(['not a host', '-a', 'a-', '.', 'http://a', 'a:80', '[::1]', 'a/b', 'x'.repeat(254)])(
    'is not "%s"',
    (host) => {
      expect(refusal({ HOST: host })).toBe(`HOST must be an IP address or a host name, not "${host}".`);
    },
  );
});

describe('DATABASE_URL', () => {
  it.each([
    'postgres://ferry:geheim@db.example/ferry',
    'postgresql://ferry@127.0.0.1:5433/ferry?sslmode=require',
    'postgres://ferry@%2Fvar%2Frun%2Fpostgresql:5433/ferry',
    'postgres:///ferry?host=/var/run/postgresql&user=ferry',
  ])('may be %s', (url) => {
    expect(readConfig({ DATABASE_URL: url }).databaseUrl).toBe(url);
  });

  it.each([
    'mysql://ferry:geheim@db.example/ferry',
    'http://ferry:geheim@db.example',
    'ferry:geheim@db.example/ferry',
    'db.example/geheim',
    '/var/run/geheim',
    'host=db.example password=geheim',
    'postgres://ferry:geheim@db.example:port/ferry',
  ])('is not %s, which is not repeated either', (url) => {
    const message = refusal({ DATABASE_URL: url });
    expect(message).toBe('DATABASE_URL must be a URL that starts with postgres:// or postgresql://.');
    expect(message).not.toContain('geheim');
  });
});

describe('FERRY_PUBLIC_URL', () => {
  it.each([
    ['https://pay.example', 'https://pay.example'],
    ['http://127.0.0.1:9000/', 'http://127.0.0.1:9000'],
    ['https://example.org/pay//', 'https://example.org/pay'],
  ])('%s is used as %s', (given, used) => {
    expect(readConfig({ FERRY_PUBLIC_URL: given }).publicUrl).toBe(used);
  });

  it.each(['pay.example', 'ftp://pay.example', '//pay.example', 'postgres://pay.example', 'http://'])(
    'is not %s',
    (url) => {
      expect(refusal({ FERRY_PUBLIC_URL: url })).toBe(
        'FERRY_PUBLIC_URL must be a URL that starts with http:// or https://.',
      );
    },
  );
});

describe('FERRY_DATA_DIR', () => {
  it('is made absolute', () => {
    expect(readConfig({ FERRY_DATA_DIR: '/srv/ferry/' }).dataDir).toBe('/srv/ferry');
    expect(readConfig({ FERRY_DATA_DIR: 'data' }).dataDir).toBe(resolve('data'));
  });

  it('is in the home of an ordinary user, or where XDG_DATA_HOME says, and in /var/lib for root', () => {
    const isRoot = process.getuid?.() === 0;
    const dataDir = (env: Environment): string => readConfig(env).dataDir;
    expect(dataDir({ HOME: '/home/ada' })).toBe(isRoot ? '/var/lib/ferry' : '/home/ada/.local/share/ferry');
    expect(dataDir({ XDG_DATA_HOME: '/data', HOME: '/home/ada' })).toBe(
      isRoot ? '/var/lib/ferry' : '/data/ferry',
    );
    expect(dataDir({})).toBe(isRoot ? '/var/lib/ferry' : join(homedir(), '.local/share/ferry'));
  });
});

describe('FERRY_MODE', () => {
  it('production takes the database and the public URL, says more in its log, and has no prices', () => {
    const config = readConfig(PRODUCTION);
    expect(config).toMatchObject({
      mode: 'production',
      databaseUrl: PRODUCTION.DATABASE_URL,
      publicUrl: PRODUCTION.FERRY_PUBLIC_URL,
      logLevel: 'info',
    });
    expect(config.prices.find('BTC')).toBeUndefined();
  });

  it.each(['DATABASE_URL', 'FERRY_PUBLIC_URL'])('production does not start without %s', (name) => {
    for (const value of [undefined, '']) {
      expect(refusal({ ...PRODUCTION, [name]: value })).toMatch(
        new RegExp(`^${name} must .*FERRY_MODE is production`),
      );
    }
  });

  it('sandbox may have a database of its own and a public URL', () => {
    const config = readConfig({ ...PRODUCTION, FERRY_MODE: 'sandbox' });
    expect(config).toMatchObject({ mode: 'sandbox', databaseUrl: PRODUCTION.DATABASE_URL, logLevel: 'warn' });
  });

  it.each(['staging', 'Production', 'sandbox '])('is not "%s"', (mode) => {
    expect(refusal({ FERRY_MODE: mode })).toBe(
      `FERRY_MODE must be one of sandbox, production, not "${mode}".`,
    );
  });
});

describe('LOG_LEVEL', () => {
  it.each(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])(
    'may be %s, in both modes',
    (level) => {
      expect(readConfig({ LOG_LEVEL: level }).logLevel).toBe(level);
      expect(readConfig({ ...PRODUCTION, LOG_LEVEL: level }).logLevel).toBe(level);
    },
  );

  it('is nothing else', () => {
    expect(refusal({ LOG_LEVEL: 'loud' })).toBe(
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud".',
    );
    expect(refusal({ LOG_LEVEL: 'INFO' })).toContain('LOG_LEVEL');
  });
});

describe('FERRY_CONFIG', () => {
  const usd = { code: 'USD', decimals: 2, kind: 'FIAT', networks: {} };
  const gold = { code: 'XAU', decimals: 4, kind: 'CRYPTO', networks: { ETHEREUM: '0x1' } };

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

  it('may leave out the networks of an asset, which then has none, and say who mints it', () => {
    const { networks: _none, ...inside } = usd;
    const own = { ...gold, code: 'XUSD', kind: 'STABLECOIN' };
    const config = readConfig(withFile({ assets: [inside, { ...own, operator_minted: true }] }));
    expect(config.assets.list).toEqual([usd, { ...own, operatorMinted: true }]);
  });

  it('may be the example of the documentation, which has everything that there is', () => {
    const text = readFileSync(resolve(import.meta.dirname, '../../docs/operations.md'), 'utf8');
    const [, example] = /^```json\n([\s\S]*?)^```$/m.exec(text)!;
    const config = readConfig({ ...PRODUCTION, ...withFile(example) });
    expect(config.assets.list.map(({ code }) => code)).toEqual(['USD', 'EUR', 'BTC', 'USDC', 'HUSD']);
    expect(config.assets.get('HUSD').operatorMinted).toBe(true);
    // Named by the file, not named by it, and without any default.
    expect([config.fees.fiat('wire'), config.fees.fiat('cubix')]).toEqual([2_500n, 0n]);
    expect(config.fees.crypto('BTC', 'BITCOIN')).toBe(15_000n);
    expect(config.fees.crypto('USDC', 'ETHEREUM')).toBe(2_000_000n);
    expect(config.fees.deposit('wire', 'USD')).toBe(1_000n);
    expect(config.fees.deposit('wire', 'EUR')).toBe(900n);
    expect(config.fees.deposit('BITCOIN', 'BTC')).toBe(1_000n);
    expect(config.prices.find('HUSD')).toBe(10n ** 18n);
    expect(config.rentLamportsPerDayMax).toBe(readConfig({}).rentLamportsPerDayMax);
    expect(config.externalIssuer).toMatchObject({ audience: 'ferry', customerClaim: 'tenant' });
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

  const issuer = { issuer: 'a', jwks_url: 'https://a.example', audience: 'b', customer_claim: 'c' };

  it.each([
    ['no JSON', '{"assets": [', 'readable JSON file'],
    ['no JSON on several lines', '{\n  "assets": [}\n}\n', 'readable JSON file'],
    ['an asset that is called otherwise', { assets: [{ ...usd, asset: 'USD' }] }, 'assets[0].asset must be'],
    ['an asset without code', { assets: [usd, { ...gold, code: undefined }] }, 'assets[1].code is missing'],
    ['a code that is a number', { assets: [{ ...usd, code: 840 }] }, 'assets[0].code must be a text'],
    ['no decimals', { assets: [{ ...usd, decimals: undefined }] }, 'assets[0].decimals is missing'],
    ['decimals in a text', { assets: [{ ...usd, decimals: '2' }] }, 'assets[0].decimals must be a number'],
    ['an asset without kind', { assets: [{ ...usd, kind: undefined }] }, 'assets[0].kind is missing'],
    [
      'an asset of another kind',
      { assets: [{ ...usd, kind: 'fiat' }] },
      'assets[0].kind must be one of FIAT',
    ],
    [
      'networks that are a list',
      { assets: [{ ...gold, networks: ['ETHEREUM'] }] },
      'assets[0].networks must',
    ],
    [
      'a network that nobody knows',
      { assets: [usd, { ...gold, networks: { ETHERIUM: 'native' } }] },
      'assets[1].networks.ETHERIUM must be one of BITCOIN',
    ],
    [
      'a contract that is no text',
      { assets: [usd, { ...gold, networks: { ETHEREUM: true } }] },
      'assets[1].networks.ETHEREUM must be a text',
    ],
    [
      'fiat money on a blockchain',
      { assets: [{ ...gold, kind: 'FIAT' }] },
      'assets[0].networks must be empty',
    ],
    [
      'a minter that is no answer',
      { assets: [{ ...gold, operator_minted: 'yes' }] },
      'assets[0].operator_minted must be true or false',
    ],
    ['a price of nothing', { prices: { DOGE: '1' } }, 'prices.DOGE must name a configured asset'],
    ['fees that are null', { fees: null }, 'fees must be an object'],
    [
      'a bound that is a number',
      { rent_lamports_per_day_max: 1 },
      'rent_lamports_per_day_max must be a text',
    ],
    [
      'an issuer with a typo',
      { external_issuer: { ...issuer, jwks_uri: 'x' } },
      'external_issuer.jwks_uri must',
    ],
    [
      'an issuer without keys',
      { external_issuer: { ...issuer, jwks_url: undefined } },
      'external_issuer.jwks_url is missing',
    ],
    [
      'keys that are no web page',
      { external_issuer: { ...issuer, jwks_url: 'ftp://a.example' } },
      'external_issuer.jwks_url must be a URL',
    ],
    ['an asset twice', { assets: [usd, usd] }, 'asset USD is listed twice'],
    ['a code in lower case', { assets: [{ ...usd, code: 'usd' }] }, 'asset code "usd"'],
    ['19 decimals', { assets: [usd, { ...gold, decimals: 19 }] }, 'asset XAU must have 0 to 18 decimals'],
    ['half a decimal', { assets: [usd, { ...gold, decimals: 0.5 }] }, 'asset XAU must have 0 to 18 decimals'],
    ['no USD', { assets: [gold] }, 'the asset USD must be configured'],
    ['a fee for nothing', { fees: { tea: {} } }, 'fees.tea'],
    ['a fee of an unknown rail', { fees: { fiat: { pigeon: '1' } } }, 'fees.fiat.pigeon'],
    ['a fee as a number', { fees: { fiat: { wire: 20 } } }, 'fees.fiat.wire must be a decimal string'],
    ['a fee below zero', { fees: { fiat: { wire: '-1' } } }, 'fees.fiat.wire'],
    ['a fee below a cent', { fees: { fiat: { wire: '0.001' } } }, 'fees.fiat.wire has 3 decimals'],
    ['a fee of an unknown asset', { fees: { crypto: { XAU: {} } } }, 'fees.crypto.XAU'],
    [
      'a deposit fee of an unknown asset',
      { fees: { deposits: { fiat: { wire: { GBP: '1' } } } } },
      'fees.deposits.fiat.wire.GBP must name a configured asset of the kind FIAT',
    ],
    [
      'a bank’s deposit fee in a coin',
      { fees: { deposits: { fiat: { wire: { BTC: '1' } } } } },
      'fees.deposits.fiat.wire.BTC',
    ],
    ['a list of deposit fees', { fees: { deposits: { fiat: { wire: ['1'] } } } }, 'fees.deposits.fiat.wire'],
    ['a fee on a foreign network', { fees: { crypto: { BTC: { SOLANA: '1' } } } }, 'fees.crypto.BTC.SOLANA'],
    ['prices that are a list', { prices: ['1'] }, 'prices must be an object'],
    ['a price as a number', { prices: { BTC: 65_000 } }, 'prices.BTC must be a decimal string'],
    ['a price of zero', { prices: { BTC: '0' } }, 'prices.BTC must be greater than zero'],
    ['an issuer without claim', { external_issuer: { ...issuer, customer_claim: '' } }, 'customer_claim'],
    [
      'an issuer without audience',
      { external_issuer: { ...issuer, audience: 1 } },
      'external_issuer.audience',
    ],
    ['an issuer whose keys are nowhere', { external_issuer: { ...issuer, jwks_url: 'keys' } }, 'jwks_url'],
  ])('with %s ends the start and names the entry', (_title, content, named) => {
    const message = refusal(withFile(content));
    expect(message).toMatch(/^FERRY_CONFIG/);
    expect(message).toContain(named);
  });

  it('that is not there, or a directory, ends the start', () => {
    expect(refusal({ FERRY_CONFIG: '/no/such/file.json' })).toMatch(
      /^FERRY_CONFIG must name a readable JSON/,
    );
    expect(refusal({ FERRY_CONFIG: directory })).toMatch(/^FERRY_CONFIG must name a readable JSON/);
  });

  it.each([
    ['null'],
    ['[]'],
    ['1'],
    ['"x"'],
    ['{"assets": {}}'],
    ['{"assets": [null]}'],
    ['{"external_issuer": null}'],
  ])('that holds %s ends the start with one sentence, not with a fault of ours', (text) => {
    const message = refusal(withFile(text));
    expect(message).toMatch(/^FERRY_CONFIG: /);
    expect(message).not.toMatch(/Cannot read|iterable|undefined/);
  });

  it('with a name that nobody knows ends the start: a typo must not be ignored', () => {
    expect(refusal(withFile({ asets: [] }))).toMatch(/^FERRY_CONFIG.*asets/);
  });
});

describe('whether npm started the process, and ends it', () => {
  it.each([
    ['npm start', 'start', 'exec node bin/ferry.js serve', true],
    ['npx ferry serve', 'npx', "'ferry' serve", true],
    ['npx node start.ts', 'npx', "'node'", true],
    ['a tool of npx that starts daemons', 'npx', "'pm2' start", false],
    ['a script that starts the service and ends', 'deploy', 'sh deploy.sh', false],
  ])('is told from the variables of npm: %s', (_title, event, script, expected) => {
    const env = { npm_lifecycle_event: event, npm_lifecycle_script: script };
    expect(readConfig(env).startedByNpm).toBe(expected);
    expect(readConfig({}).startedByNpm).toBe(false);
  });
});
