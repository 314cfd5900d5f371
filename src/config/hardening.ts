import { isLoopback, isPlainHttp } from '../kernel/plain-http.ts';
import type { Config } from './config.ts';

/** What FERRY_ALLOW_INSECURE can name: production then accepts that one without encryption. */
export const INSECURE = ['public_url', 'external_issuer', 'openid_provider', 'database'] as const;
export type Insecure = (typeof INSECURE)[number];

/** A unix socket or this machine. `host` as a parameter of the query is how a URL names a socket. */
function isLocalDatabase(url: URL): boolean {
  const hosts = [url.searchParams.get('host') ?? decodeURIComponent(url.hostname)].flatMap((one) =>
    one.split(','),
  );
  return hosts.every((host) => host === '' || host.startsWith('/') || host === '::1' || isLoopback(host));
}

/** Modes in which the driver refuses a server without TLS. */
const ENCRYPTED = ['require', 'verify-ca', 'verify-full'];

function isPlainDatabase(text: string | undefined): boolean {
  if (text === undefined) return false;
  const url = new URL(text);
  return !isLocalDatabase(url) && !ENCRYPTED.includes(url.searchParams.get('sslmode') ?? '');
}

/** Why production must not start with this configuration, as a sentence; undefined if it may. */
export function insecureFault(
  config: Pick<
    Config,
    'mode' | 'publicUrl' | 'databaseUrl' | 'migrateDatabaseUrl' | 'externalIssuer' | 'openIdProvider'
  >,
  allowed: readonly Insecure[],
): string | undefined {
  if (config.mode !== 'production') return undefined;
  const { externalIssuer } = config;
  const exception = (name: Insecure): string => `or set FERRY_ALLOW_INSECURE to ${name} if you accept that`;
  if (!allowed.includes('public_url') && isPlainHttp(config.publicUrl)) {
    return `FERRY_PUBLIC_URL must start with https:// in production, because clients send secrets and tokens to it: put TLS in front of the service, ${exception('public_url')}.`;
  }
  const urls = [externalIssuer?.issuer, externalIssuer?.jwksUrl];
  if (!allowed.includes('external_issuer') && urls.some(isPlainHttp)) {
    return `FERRY_CONFIG: external_issuer must have https:// addresses in production, because whoever changes its keys on the way can issue tokens: use https://, ${exception('external_issuer')}.`;
  }
  if (!allowed.includes('openid_provider') && isPlainHttp(config.openIdProvider?.issuer)) {
    return `FERRY_CONFIG: openid_provider.issuer must start with https:// in production, because whoever changes its answers on the way can sign in as anybody: use https://, ${exception('openid_provider')}.`;
  }
  const plain = Object.entries({
    DATABASE_URL: config.databaseUrl,
    FERRY_MIGRATE_DATABASE_URL: config.migrateDatabaseUrl,
  }).find(([, url]) => isPlainDatabase(url));
  if (!allowed.includes('database') && plain !== undefined) {
    return `${plain[0]} must have sslmode=require, verify-ca or verify-full in production, unless the server is on this machine: add it, ${exception('database')}.`;
  }
  return undefined;
}
