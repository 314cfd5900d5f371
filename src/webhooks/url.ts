import { isIP } from 'node:net';
import { isPublicAddress } from './addresses.ts';

/** Which hosts may be called. The sandbox may call any, because receivers run on the developer's own machine. */
export type Reach = 'public' | 'anywhere';

const LOCAL_NAMES = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|localdomain|home\.arpa|onion)$/;

/** The host, if it is an address in any notation: the URL parser turns `0x7f.1` into `127.0.0.1`. */
export function literalAddress(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? undefined : host;
}

/** Why the URL is not valid, to follow "url "; undefined if it is. */
export function urlFault(text: string, reach: Reach): string | undefined {
  if (!URL.canParse(text)) return 'must be an absolute URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && (reach === 'public' || url.protocol !== 'http:')) {
    return reach === 'public' ? 'must begin with https://' : 'must begin with https:// or http://';
  }
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (text.includes('#')) return 'must not have a fragment';
  if (reach === 'anywhere') return undefined;
  const address = literalAddress(url);
  if (address !== undefined && !isPublicAddress(address)) {
    return `must name a public address; ${address} is not public`;
  }
  const name = url.hostname.replace(/\.$/, '');
  if (address === undefined && (!name.includes('.') || LOCAL_NAMES.test(name))) {
    return `must name a host on the public internet; ${name} is not`;
  }
  // Other services listen on ports below 1024, and must not receive these requests.
  const port = url.port === '' ? 443 : Number(url.port);
  if (port !== 443 && port < 1024) return 'must use port 443 or a port above 1023';
  return undefined;
}
