import type { ConnectionOptions, SecureContextOptions, TlsOptions } from 'node:tls';
import type { Vault } from '../kernel/vault.ts';
import { VERSION } from '../version.ts';

/**
 * Nodes of one installation share the data keys of its database, so they need no certificates: the key of the link is derived from
 * them. Without it nothing is sent or accepted. The cipher agrees on a new key for each connection (ECDHE), so a key that leaks later
 * opens no earlier traffic.
 */
const CIPHER = 'ECDHE-PSK-CHACHA20-POLY1305';

/** Nodes of different releases do not understand each other's messages: each decides for itself until all are replaced. */
const IDENTITY = `ferry ${VERSION}`;

const COMMON: SecureContextOptions = {
  ciphers: CIPHER,
  // Node offers keys that both sides know only up to TLS 1.2.
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
};

const keyOf = (vault: Vault): Buffer =>
  Buffer.from(vault.digester('node link')('pre-shared key'), 'base64url');

export function serverTls(vault: Vault): TlsOptions {
  const key = keyOf(vault);
  return { ...COMMON, pskCallback: (_socket, identity) => (identity === IDENTITY ? key : null) };
}

export function clientTls(vault: Vault): ConnectionOptions {
  const psk = keyOf(vault);
  return {
    ...COMMON,
    pskCallback: () => ({ psk, identity: IDENTITY }),
    // There is no certificate: the handshake fails unless the other side has the same key.
    checkServerIdentity: () => undefined,
  };
}
