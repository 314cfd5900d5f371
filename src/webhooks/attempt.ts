import { NS_PER_MS } from '../kernel/instant.ts';
import type { Delivery, Received, SentRequest } from './delivery.ts';
import type { Outcome } from './delivery-store.ts';
import { type Endpoint, signingSecrets } from './endpoint.ts';
import { afterFailure, type Breaker, CLOSED, nextTryMs } from './schedule.ts';
import { signatures } from './secrets.ts';
import type { Sender } from './sender.ts';

export type Attempt = {
  readonly isDelivered: boolean;
  readonly request: SentRequest;
  readonly response: Received | null;
  readonly error: string | null;
};

export type Post = {
  readonly endpoint: Endpoint;
  readonly eventId: string;
  readonly body: string;
  readonly nowMs: number;
};

/** One request, signed as Standard Webhooks specifies. Its id is that of the event, for every attempt and replay. */
export async function attempt(sender: Sender, post: Post): Promise<Attempt> {
  const { endpoint, eventId, body, nowMs } = post;
  const timestamp = Math.floor(nowMs / 1_000);
  const secrets = signingSecrets(endpoint, BigInt(Math.floor(nowMs)) * NS_PER_MS);
  const headers = {
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures(secrets, { id: eventId, timestamp, body }),
  };
  const result = await sender.post(endpoint.url, headers, body);
  const { status } = result;
  const response =
    status === undefined
      ? null
      : { status, headers: result.headers, body: result.body, duration_ms: result.durationMs };
  return {
    isDelivered: status !== undefined && status >= 200 && status < 300,
    request: { url: endpoint.url, headers },
    response,
    error: result.error ?? null,
  };
}

type Context = { endpointId: string; token: string; nowMs: number; random: () => number };

/** What the result of an attempt means for its delivery and its endpoint. */
export function outcomeOf(
  attempted: Attempt,
  delivery: Delivery,
  before: Breaker,
  context: Context,
): Outcome {
  const { endpointId, token, nowMs, random } = context;
  const attempts = delivery.attempts + 1;
  const firstTryMs = delivery.firstTryMs ?? nowMs;
  const { isDelivered, request, response, error } = attempted;
  const common = {
    deliveryId: delivery.id,
    endpointId,
    token,
    attempts,
    firstTryMs,
    request,
    response,
    error,
  };
  if (isDelivered) {
    const isBack = before.probeAtMs !== null;
    return { ...common, status: 'DELIVERED', dueAtMs: nowMs, breaker: CLOSED, isBack };
  }
  const breaker = afterFailure(before, attempts, nowMs, random());
  const next = nextTryMs({ attempts, firstTryMs }, nowMs, random());
  return {
    ...common,
    status: next === undefined ? 'FAILED' : 'PENDING',
    dueAtMs: next ?? nowMs,
    breaker,
    isBack: false,
  };
}
