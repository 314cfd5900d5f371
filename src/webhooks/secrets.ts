import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

/** Encrypts endpoint secrets for the database with AES-256-GCM. A sealed secret can be opened only for its own endpoint. */
export type Sealer = {
  seal(secret: string, endpointId: string): string;
  /** Throws UnreadableSecret if it was sealed under another key. */
  open(sealed: string, endpointId: string): string;
};

export class UnreadableSecret extends Error {
  constructor(cause?: unknown) {
    super('the secret was encrypted with another FERRY_SECRET_KEY', { cause });
    this.name = 'UnreadableSecret';
  }
}

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1:';

export function createSealer(key: Buffer): Sealer {
  if (key.length !== 32) throw new Error('the key must have 32 bytes');
  return {
    seal(secret, endpointId) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(endpointId));
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return VERSION + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
    },
    open(text, endpointId) {
      if (!text.startsWith(VERSION)) throw new UnreadableSecret('unknown format');
      const bytes = Buffer.from(text.slice(VERSION.length), 'base64');
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES))
        .setAAD(Buffer.from(endpointId))
        .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      const opened = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
      try {
        return Buffer.concat([opened, decipher.final()]).toString('utf8');
      } catch (error) {
        throw new UnreadableSecret(error);
      }
    },
  };
}

export function canOpen(sealer: Sealer, sealed: string, endpointId: string): boolean {
  try {
    sealer.open(sealed, endpointId);
    return true;
  } catch (error) {
    if (error instanceof UnreadableSecret) return false;
    throw error;
  }
}

/** 32 bytes; the Standard Webhooks specification requires 24 to 64. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** The `webhook-signature` header: one signature for each valid secret. */
export function signatures(
  secrets: readonly string[],
  message: { readonly id: string; readonly timestamp: number; readonly body: string },
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
      const text = `${message.id}.${message.timestamp}.${message.body}`;
      return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
    })
    .join(' ');
}
