import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Environment, PRODUCTION, refusal } from '../../test/support/config.ts';
import { DEFAULT_ASSETS } from '../networks/default-assets.ts';
import { readConfig } from './config.ts';

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
  ])('is not %s, and the error does not repeat the value', (url) => {
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
  it('production uses the database and the public URL, logs more, and has no prices', () => {
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

  it('sandbox may use a configured database and a public URL', () => {
    const config = readConfig({ ...PRODUCTION, FERRY_MODE: 'sandbox' });
    expect(config).toMatchObject({ mode: 'sandbox', databaseUrl: PRODUCTION.DATABASE_URL, logLevel: 'warn' });
  });

  it.each(['staging', 'Production', 'sandbox '])('is not "%s"', (mode) => {
    expect(refusal({ FERRY_MODE: mode })).toBe(
      `FERRY_MODE must be one of sandbox, production, not "${mode}".`,
    );
  });
});

describe('FERRY_TRUSTED_PROXIES', () => {
  it.each([
    ['', []],
    ['10.0.0.0/8', ['10.0.0.0/8']],
    ['127.0.0.1, 2001:db8::/32', ['127.0.0.1', '2001:db8::/32']],
    [' 127.0.0.1  10.0.0.0/8,', ['127.0.0.1', '10.0.0.0/8']],
  ])('"%s" is the list %j', (text, expected) => {
    expect(readConfig({ FERRY_TRUSTED_PROXIES: text }).trustedProxies).toEqual(expected);
    expect(readConfig({}).trustedProxies).toEqual([]);
  });

  it.each(['localhost', '10.0.0.0/33', '10.1.2.3/8', '10.0.0.0/8;127.0.0.1', '*'])('is not "%s"', (text) => {
    expect(refusal({ FERRY_TRUSTED_PROXIES: `127.0.0.1,${text}` })).toBe(
      `FERRY_TRUSTED_PROXIES must be a list of addresses and ranges such as 10.0.0.0/8, not "${text}".`,
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

  it('rejects any other value', () => {
    expect(refusal({ LOG_LEVEL: 'loud' })).toBe(
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud".',
    );
    expect(refusal({ LOG_LEVEL: 'INFO' })).toContain('LOG_LEVEL');
  });
});

describe('whether npm started the process, and ends it', () => {
  it.each([
    ['npm start', 'start', 'exec node bin/ferry.js serve', true],
    ['npx ferry serve', 'npx', "'ferry' serve", true],
    ['npx node start.ts', 'npx', "'node'", true],
    ['a tool of npx that starts daemons', 'npx', "'pm2' start", false],
    ['a script that starts the service and ends', 'deploy', 'sh deploy.sh', false],
  ])('is recognised by the variables of npm: %s', (_title, event, script, expected) => {
    const env = { npm_lifecycle_event: event, npm_lifecycle_script: script };
    expect(readConfig(env).startedByNpm).toBe(expected);
    expect(readConfig({}).startedByNpm).toBe(false);
  });
});
