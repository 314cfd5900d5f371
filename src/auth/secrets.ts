import { randomBytes, timingSafeEqual } from 'node:crypto';
import { LIMITS } from '../limits.ts';
import type { Vault } from '../sealing/vault.ts';

/**
 * Credentials of clients. The prefix tells what the string is if it turns up in a log or a repository, and lets secret
 * scanners find it. Ids and secrets need no escaping in a URL, a form or a Basic header.
 */
export function newClientId(): string {
  return `ferry_${randomBytes(12).toString('hex')}`;
}

export function newClientSecret(): string {
  return `ferry_secret_${randomBytes(32).toString('base64url')}`;
}

/** A text that cannot be an id is not looked up. */
export function isClientId(text: string): boolean {
  return text.length <= LIMITS.clientIdLengthMax && /^[\x21-\x7e]+$/.test(text);
}

export type Credentials = { readonly clientId: string; readonly clientSecret: string };

/** In the form `$hmac$1$<digest>`. The same credentials always have the same hash. */
export type HashSecret = (credentials: Credentials) => string;

/**
 * A secret has 256 random bits, so a slow hash would protect it no better than a fast one: nobody can try 2^256 of them. The
 * key makes the hashes of a stolen database useless even for a weak secret. A hash takes 3 µs, so that a login does, too.
 */
export function createHashSecret(vault: Vault): HashSecret {
  const digest = vault.digester('client secrets');
  // No id contains the separator.
  return ({ clientId, clientSecret }) => `$hmac$1$${digest(`${clientId}\0${clientSecret}`)}`;
}

/** Takes equally long wherever the texts differ. */
export function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
