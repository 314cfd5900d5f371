import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { expectProblem, startTestService, type TestCustomer, type TestService } from '../support/service.ts';

const WEBHOOKS = '/v2/events/webhooks';

let service: TestService;
let blind: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  blind = await service.createCustomer({ scopes: ['events:write_webhook'] });
});
afterAll(() => service.stop());

describe('a client that may not read events', () => {
  it('can neither have them sent nor change where they are sent', async () => {
    const id = newId();
    for (const [method, path, body] of [
      ['POST', WEBHOOKS, { url: 'http://127.0.0.1:9/x' }],
      ['PUT', `${WEBHOOKS}/${id}`, { enabled: true }],
      ['POST', `${WEBHOOKS}/${id}/replay`, { since: '2026-01-01T00:00:00Z' }],
      ['POST', `${WEBHOOKS}/${id}/deliveries/${id}/replay`, undefined],
    ] as const) {
      const refused = expectProblem(await blind.call(method, path, body), 403, 'insufficient-scope');
      expect(refused).toMatchObject({ required: 'events:read_event' });
    }
    // Deleting an endpoint, or rotating its secret, shows no events.
    expectProblem(await blind.call('DELETE', `${WEBHOOKS}/${id}`), 404, 'not-found');
  });
});
