import { describe, expect, it } from 'vitest';
import { insecureFault } from './hardening.ts';

const SAFE = {
  mode: 'production',
  publicUrl: 'https://pay.example',
  databaseUrl: 'postgres://ferry@db.example/ferry?sslmode=verify-full',
  migrateDatabaseUrl: undefined,
  externalIssuer: undefined,
  openIdProvider: undefined,
} as const;
const issuer = (jwksUrl: string, name = 'https://id.example') => ({
  externalIssuer: { issuer: name, jwksUrl, audience: 'ferry', customerClaim: 'customer' },
});

const provider = (url: string) => ({
  openIdProvider: { issuer: url, clientId: 'ferry', clientSecret: 'secret', name: 'Example' },
});

describe('production', () => {
  it.each([
    ['a safe configuration', {}],
    ['a public URL on this machine', { publicUrl: 'http://127.0.0.1:8080' }],
    ['a database on this machine', { databaseUrl: 'postgres://ferry@localhost/ferry' }],
    ['a database on a socket', { databaseUrl: 'postgres:///ferry?host=/var/run/postgresql' }],
    ['a database on a socket in the host', { databaseUrl: 'postgres://ferry@%2Fvar%2Frun:5433/ferry' }],
    ['a database that requires TLS', { databaseUrl: 'postgres://db.example/ferry?sslmode=require' }],
    ['an issuer with https', issuer('https://id.example/keys')],
    ['an OpenID provider with https', provider('https://id.example')],
    ['an issuer whose name is not a URL', issuer('https://id.example/keys', 'id')],
  ])('accepts %s', (_, change) => {
    expect(insecureFault({ ...SAFE, ...change }, [])).toBeUndefined();
  });

  it.each([
    ['public_url', /^FERRY_PUBLIC_URL must start with https/, { publicUrl: 'http://pay.example' }],
    ['external_issuer', /^FERRY_CONFIG: external_issuer/, issuer('http://id.example/keys')],
    ['external_issuer', /^FERRY_CONFIG: external_issuer/, issuer('https://id.example', 'http://id.example')],
    ['openid_provider', /^FERRY_CONFIG: openid_provider.issuer must/, provider('http://id.example')],
    ['database', /^DATABASE_URL must have sslmode/, { databaseUrl: 'postgres://db.example/ferry' }],
    ['database', /^DATABASE_URL/, { databaseUrl: 'postgres://db.example/ferry?sslmode=prefer' }],
    ['database', /^DATABASE_URL/, { databaseUrl: 'postgres:///ferry?host=db.example' }],
    ['database', /^DATABASE_URL/, { databaseUrl: 'postgres:///ferry?host=localhost,db.example' }],
    [
      'database',
      /^FERRY_MIGRATE_DATABASE_URL must have sslmode/,
      { migrateDatabaseUrl: 'postgres://db.example/ferry' },
    ],
  ] as const)('refuses to go without TLS for %s, unless that is allowed', (name, text, change) => {
    const config = { ...SAFE, ...change };
    expect(insecureFault(config, [])).toMatch(text);
    expect(insecureFault(config, [])).toContain(`set FERRY_ALLOW_INSECURE to ${name}`);
    expect(insecureFault(config, [name])).toBeUndefined();
    expect(insecureFault({ ...config, mode: 'sandbox' }, [])).toBeUndefined();
  });
});
