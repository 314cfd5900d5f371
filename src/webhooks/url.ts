import { isIP } from 'node:net';
import { isPublicAddress } from './addresses.ts';

/** Whom we may call. The sandbox calls anybody: receivers there run on the developer's own machine. */
export type Reach = 'public' | 'anywhere';

const LOCAL_NAMES = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|localdomain|home\.arpa|onion)$/;

/** The host as an address, when it is one in any of its forms: the parser has made `0x7f.1` into `127.0.0.1`. */
export function literalAddress(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? undefined : host;
}

/** What is wrong with an endpoint's URL, to follow "url "; undefined when nothing is that can be seen from it. */
export function urlFault(text: string, reach: Reach): string | undefined {
  if (!URL.canParse(text)) return 'must be an absolute URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && (reach === 'public' || url.protocol !== 'http:')) {
    return reach === 'public' ? 'must begin with https://' : 'must begin with https:// or http://';
  }
  if (url.username !== '' || url.password !== '') return 'must not have a user name or a password in it';
  if (text.includes('#')) return 'must not have a fragment';
  if (reach === 'anywhere') return undefined;
  const address = literalAddress(url);
  if (address !== undefined && !isPublicAddress(address)) {
    return `must name a public address, and ${address} is none`;
  }
  const name = url.hostname.replace(/\.$/, '');
  if (address === undefined && (!name.includes('.') || LOCAL_NAMES.test(name))) {
    return `must name a host on the public internet, and ${name} is none`;
  }
  // Below 1024 are the ports of other services, which must not get our requests.
  const port = url.port === '' ? 443 : Number(url.port);
  if (port !== 443 && port < 1024) return 'must have the port 443, or one above 1023';
  return undefined;
}
