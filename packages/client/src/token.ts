export type IssuedToken = { readonly access_token: string; readonly expires_in: number };

export type TokenSource = {
  /** The token for the next request. All callers share one, and one request for it. */
  get(): Promise<string>;
  /** After a 401: the next `get` requests a new one, unless that has happened already. */
  discard(token: string): void;
};

/** A token is renewed in the background when this part of its lifetime is left, so nobody waits for it. */
const RENEW_BELOW = 0.2;

type Token = { readonly text: string; readonly lifetimeMs: number; readonly expiresAtMs: number };

/** Tokens from `request`, which returns one and its lifetime in seconds. */
export function createTokenSource(request: () => Promise<IssuedToken>): TokenSource {
  let current: Token | undefined;
  let pending: Promise<Token> | undefined;

  function renew(): Promise<Token> {
    pending ??= request()
      .then(({ access_token: text, expires_in }) => {
        const lifetimeMs = expires_in * 1_000;
        current = { text, lifetimeMs, expiresAtMs: performance.now() + lifetimeMs };
        return current;
      })
      .finally(() => {
        pending = undefined;
      });
    return pending;
  }

  return {
    async get() {
      const leftMs = current === undefined ? 0 : current.expiresAtMs - performance.now();
      if (current === undefined || leftMs <= 0) return (await renew()).text;
      // A renewal that fails is repeated with the next request; until then the present token is still valid.
      if (leftMs < current.lifetimeMs * RENEW_BELOW) renew().catch(() => undefined);
      return current.text;
    },
    discard(token) {
      if (current?.text === token) current = undefined;
    },
  };
}

/** The `Authorization` of a token request (RFC 6749, section 2.3.1). */
export function basicCredentials(clientId: string, clientSecret: string): string {
  const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');
  return `Basic ${btoa(`${encode(clientId)}:${encode(clientSecret)}`)}`;
}
