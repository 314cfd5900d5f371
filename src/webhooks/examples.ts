import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS, EXAMPLE_LATER, EXAMPLE_NEXT_DAY } from '../kernel/examples.ts';
import { TEST_EVENT } from './event-types.ts';
import type { WebhookHealthShape } from './health-route.ts';
import type { DeliveryShape, WebhookShape, WebhookWithSecretShape } from './schema.ts';

type Webhook = Static<typeof WebhookShape>;

export const WEBHOOK: Webhook = {
  id: EXAMPLE_IDS.webhook,
  url: 'https://example.com/ferry',
  event_types: ['transfer.*'],
  enabled: true,
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
};

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

export const CREATED_WEBHOOK: Static<typeof WebhookWithSecretShape> = {
  ...WEBHOOK,
  ref_id: 'transfers-to-example',
  secret: SECRET,
};

export const ROTATED_WEBHOOK: Static<typeof WebhookWithSecretShape> = {
  ...WEBHOOK,
  updated_at: EXAMPLE_LATER,
  previous_secret_expires_at: EXAMPLE_NEXT_DAY,
  secret: SECRET,
};

export const UPDATED_WEBHOOK: Webhook = {
  ...WEBHOOK,
  event_types: ['transfer.*', 'settlement.*'],
  updated_at: EXAMPLE_LATER,
};

export const DELETED_WEBHOOK: Webhook = {
  ...WEBHOOK,
  enabled: false,
  updated_at: EXAMPLE_LATER,
  deleted_at: EXAMPLE_LATER,
};

const EVENT_ID = '019bc0fd-91fb-7207-aa07-c9b486960001';

export const DELIVERY: Static<typeof DeliveryShape> = {
  id: '019bc0fd-91fb-70c8-b8c8-51132e735305',
  webhook_id: WEBHOOK.id,
  event_id: EVENT_ID,
  event_type: TEST_EVENT,
  trigger: 'TEST',
  status: 'DELIVERED',
  attempts: 1,
  request: {
    url: WEBHOOK.url,
    headers: {
      'webhook-id': EVENT_ID,
      'webhook-timestamp': '1768469402',
      'webhook-signature': 'v1,VKbQL8irleJZYl9fJHI3EL0rXDpaVsWAOq+ubeVCk8s=',
    },
    body: {
      id: EVENT_ID,
      type: TEST_EVENT,
      created_at: EXAMPLE_LATER,
      resource_id: WEBHOOK.id,
      data: { ...WEBHOOK },
    },
  },
  response: {
    status: 200,
    headers: { date: 'Thu, 15 Jan 2026 09:30:02 GMT', 'content-length': '6' },
    body: 'thanks',
    duration_ms: 45,
  },
  created_at: EXAMPLE_LATER,
  updated_at: EXAMPLE_LATER,
};

export const REPLAYED_DELIVERY: Static<typeof DeliveryShape> = {
  id: '019bc0fd-91fb-72ff-96ff-293fc4f443ca',
  webhook_id: WEBHOOK.id,
  event_id: EVENT_ID,
  event_type: TEST_EVENT,
  trigger: 'REPLAY',
  status: 'PENDING',
  attempts: 0,
  next_attempt_at: EXAMPLE_LATER,
  created_at: EXAMPLE_LATER,
  updated_at: EXAMPLE_LATER,
};

export const WEBHOOK_HEALTH: Static<typeof WebhookHealthShape> = {
  delivering: 1,
  failing: 0,
  disabled: 0,
  items: [
    {
      webhook_id: WEBHOOK.id,
      customer_id: EXAMPLE_IDS.customer,
      url: WEBHOOK.url,
      state: 'DELIVERING',
      failures: 0,
      pending: 0,
      latest: ['DELIVERED', 'DELIVERED', 'FAILED', 'DELIVERED'],
    },
  ],
};
