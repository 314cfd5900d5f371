import { createHash, createSecretKey } from 'node:crypto';
import { decrypt, encrypt } from './vault.ts';

/**
 * Wraps data keys with a key that is outside the database. Implement this to keep that key in a key management service: it is
 * asked only when a node starts and when keys are rewrapped, never for a request.
 */
export type WrappingKey = {
  /** Names the key without revealing it. Stored with every data key that it wraps. */
  readonly id: string;
  wrap(dataKey: Buffer): Promise<string>;
  /** Throws if this key did not wrap it. */
  unwrap(wrapped: string): Promise<Buffer>;
};

const PLACE = 'data_keys';

/** The key of FERRY_SECRET_KEY: 32 bytes. */
export function localWrappingKey(bytes: Buffer): WrappingKey {
  if (bytes.length !== 32) throw new Error('a wrapping key must have 32 bytes');
  const hash = createHash('sha256').update('ferry wrapping key').update(bytes).digest('hex');
  const key = createSecretKey(bytes);
  return {
    id: `local:${hash.slice(0, 16)}`,
    wrap: async (dataKey) => encrypt(key, dataKey, PLACE).toString('base64url'),
    unwrap: async (wrapped) => decrypt(key, Buffer.from(wrapped, 'base64url'), PLACE),
  };
}
