import { timingSafeEqual } from 'node:crypto';
import { newId } from '../kernel/id.ts';
import { HTTP_RAIL_LIMITS } from '../limits-http-rail.ts';
import { signatures } from '../webhooks/secrets.ts';

/**
 * Requests in both directions are signed as Standard Webhooks are: `webhook-signature` has an HMAC of id, timestamp and
 * payload. The payload is the body. A request without a body signs its method and its request target instead, separated by a
 * space: `GET /payments/01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40`.
 */

export type Signable = {
  readonly method: string;
  /** Path and query as they are sent. */
  readonly target: string;
  readonly body?: string | undefined;
};

const payloadOf = ({ method, target, body }: Signable): string => body ?? `${method} ${target}`;

export function signedHeaders(
  secrets: readonly string[],
  request: Signable,
  nowMs: number,
): Record<string, string> {
  const id = `msg_${newId().replaceAll('-', '')}`;
  const timestamp = Math.floor(nowMs / 1_000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures(secrets, { id, timestamp, body: payloadOf(request) }),
  };
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export type Header = (name: string) => string | undefined;

/** Why the request is not from the owner of a secret, as a sentence; undefined if it is. */
export function signatureFault(
  secrets: readonly string[],
  header: Header,
  body: string,
  nowMs: number,
): string | undefined {
  const { toleranceSeconds, signaturesMax } = HTTP_RAIL_LIMITS;
  const [id, timestampText, given] = ['id', 'timestamp', 'signature'].map((name) =>
    header(`webhook-${name}`),
  );
  if (!id || !timestampText || !given)
    return 'The request must have the headers webhook-id, webhook-timestamp and webhook-signature.';
  const timestamp = /^[0-9]{1,12}$/.test(timestampText) ? Number(timestampText) : undefined;
  if (timestamp === undefined) return 'webhook-timestamp must be the time in seconds since 1970.';
  const offSeconds = Math.round(nowMs / 1_000) - timestamp;
  if (Math.abs(offSeconds) > toleranceSeconds) {
    const where = offSeconds > 0 ? 'behind' : 'ahead of';
    return `webhook-timestamp is ${Math.abs(offSeconds)} s ${where} the clock of this service, at most ${toleranceSeconds} s are accepted. Sign the request again when you repeat it.`;
  }
  const expected = signatures(secrets, { id, timestamp, body }).split(' ');
  const isValid = given
    .split(' ', signaturesMax)
    .some((one) => expected.filter((valid) => isEqual(one, valid)).length > 0);
  return isValid
    ? undefined
    : 'webhook-signature does not match: sign "{webhook-id}.{webhook-timestamp}.{body}" with the secret of this rail.';
}
