import { isIP } from 'node:net';
import { isLoopback } from '../kernel/plain-http.ts';

/** Everything about sign-in that follows from the public URL: cookies, the origins of pages, and the name that passkeys are for. */
export type Place = {
  /** The pages of the service have one of these origins. */
  readonly origins: readonly string[];
  /** The domain that passkeys are made for; undefined if the service is reached by an IP address, which has none. */
  readonly passkeyDomain: string | undefined;
  /** Where people sign in: the public URL, or on this machine the same under the name localhost. */
  readonly url: string;
  readonly sessionCookie: string;
  readonly openIdCookie: string;
  /** Of a client that is used in a browser. */
  readonly clientCookie: string;
  cookie(name: string, value: string, options: { sameSite: 'Strict' | 'Lax'; seconds?: number }): string;
};

/** Browsers make passkeys for localhost, but not for 127.0.0.1, although both are this machine. */
function asLocalhost(url: URL): URL {
  const named = new URL(url);
  if (isLoopback(url.hostname)) named.hostname = 'localhost';
  return named;
}

const withoutSlash = (text: string): string => text.replace(/\/+$/, '');

export function placeOf(publicUrl: string): Place {
  const url = new URL(publicUrl);
  const named = asLocalhost(url);
  const isSecure = url.protocol === 'https:';
  const path = withoutSlash(url.pathname);
  // A browser accepts __Host- only for the whole host. With a path, other services on the host must not get the cookie.
  const prefix = isSecure ? (path === '' ? '__Host-' : '__Secure-') : '';
  const host = named.hostname.replace(/^\[|\]$/g, '');
  return {
    origins: [...new Set([url.origin, named.origin])],
    passkeyDomain: isIP(host) === 0 ? host : undefined,
    url: withoutSlash(named.href),
    sessionCookie: `${prefix}ferry_session`,
    openIdCookie: `${prefix}ferry_openid`,
    clientCookie: `${prefix}ferry_client`,
    cookie(name, value, { sameSite, seconds }) {
      return [
        `${name}=${value}`,
        `Path=${path === '' ? '/' : path}`,
        'HttpOnly',
        `SameSite=${sameSite}`,
        ...(isSecure ? ['Secure'] : []),
        ...(seconds === undefined ? [] : [`Max-Age=${seconds}`]),
      ].join('; ');
    },
  };
}

/** The value of a cookie. Undefined if it is absent, or there twice: then somebody else may have set one of them. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const values = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

const SAFE = ['GET', 'HEAD', 'OPTIONS'];

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Why a request that carries a cookie may have been made by a page of somebody else, as a sentence; undefined if it was not.
 * Browsers say where a request that changes something comes from, and pages cannot make them lie.
 */
export function crossSiteFault(
  { method = '', headers }: { readonly method?: string | undefined; readonly headers: Headers },
  { origins }: Pick<Place, 'origins'>,
): string | undefined {
  if (SAFE.includes(method)) return undefined;
  const { origin, 'sec-fetch-site': site } = headers;
  if (site !== undefined && site !== 'same-origin')
    return 'The request comes from a page of another site (Sec-Fetch-Site).';
  if (typeof origin === 'string') {
    return origins.includes(origin)
      ? undefined
      : `The request comes from a page of another origin. The pages of this service have the origin ${origins.join(' or ')}.`;
  }
  return site === undefined
    ? 'A request with a session must have an Origin or Sec-Fetch-Site header, as browsers send it.'
    : undefined;
}
