import type { components } from './schema.generated.ts';

export type Event = components['schemas']['Event'];

/** The request is not from Ferry, or is too old to be accepted. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused';
}

type HeaderSource = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export type VerifyOptions = {
  /** How far the clocks may differ, and how long a request may be under way. */
  readonly toleranceSeconds?: number;
  /** The time of the receiver in milliseconds; for tests. */
  readonly now?: number;
};

function headerOf(headers: HeaderSource, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value !== 'string' || value === '') throw new WebhookRefused(`The header ${name} is missing.`);
  return value;
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

async function keyOf(secret: string) {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''));
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/**
 * Verifies a webhook (Standard Webhooks) and returns its event. `body` is exactly what was received, before any parsing. During
 * a rotation, pass both secrets. Receivers get an event at least once: `webhook-id` is the same each time.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: HeaderSource,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now() }: VerifyOptions = {},
): Promise<Event> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  if (!/^[0-9]{1,12}$/.test(timestamp)) throw new WebhookRefused('webhook-timestamp is not a time.');
  if (Math.abs(now / 1_000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookRefused(`webhook-timestamp differs from this clock by more than ${toleranceSeconds} s.`);
  }
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const signatures = headerOf(headers, 'webhook-signature')
    .split(' ')
    .filter((part) => /^v1,[A-Za-z0-9+/]{43}=$/.test(part))
    .map((part) => bytesOf(part.slice(3)));
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const key = await keyOf(secret);
    for (const signature of signatures) {
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return JSON.parse(text) as Event;
    }
  }
  throw new WebhookRefused('No signature matches: the secret is another one, or the body was changed.');
}
