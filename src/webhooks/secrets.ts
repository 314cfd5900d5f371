import { createHmac, randomBytes } from 'node:crypto';

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
