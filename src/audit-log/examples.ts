import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS } from '../kernel/examples.ts';
import { PROFILE } from '../profiles/examples.ts';
import type { AuditEntryShape } from './schema.ts';

export const AUDIT_ENTRY: Static<typeof AuditEntryShape> = {
  id: '019bc0fd-8ba2-7b55-a0d3-6c1f94e80001',
  action: 'profile.created',
  resource_type: 'profile',
  resource_id: PROFILE.id,
  customer_id: EXAMPLE_IDS.customer,
  outcome: 'DONE',
  actor: {
    kind: 'CLIENT',
    id: 'f81f7a43-8c4e-4a0c-9e0f-5a3b8f0c1d27',
    customer_id: EXAMPLE_IDS.customer,
    name: 'back office',
    from: '192.0.2.10',
    request_id: '019bc0fd-8ba2-7c11-8d02-3b6f0a91e5d4',
  },
  after: PROFILE,
  created_at: EXAMPLE_AT,
};
