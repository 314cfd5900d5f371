import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS } from '../kernel/examples.ts';
import type {
  CreatedPersonShape,
  EndedSessions,
  EnrolmentLinkShape,
  MeShape,
  PersonShape,
  SessionShape,
} from './schema.ts';

const PERSON_ID = '019bc0fd-8ba2-7a17-9c3e-51d08f6b2e49';
const EXAMPLE_LINK = {
  enrolment_url: 'https://example.com/signin/enrol#Zm9yLW9uZS1wZXJzb24tYW5kLW9ubHktb25jZS0tLS0',
  enrolment_expires_at: '2026-01-18T09:30:00.482193Z',
};

export const PERSON: Static<typeof PersonShape> = {
  id: PERSON_ID,
  customer_id: EXAMPLE_IDS.customer,
  name: 'Ada Lindqvist',
  email: 'ada@example.com',
  roles: ['MAKER', 'APPROVER'],
  status: 'ACTIVE',
  passkeys: 0,
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
};

export const NEW_PERSON = {
  name: 'Ada Lindqvist',
  email: 'ada@example.com',
  roles: ['MAKER' as const, 'APPROVER' as const],
};

export const CREATED_PERSON: Static<typeof CreatedPersonShape> = { ...PERSON, ...EXAMPLE_LINK };
export const CHANGED_PERSON: Static<typeof PersonShape> = { ...PERSON, roles: ['VIEWER'] };
export const DISABLED_PERSON: Static<typeof PersonShape> = { ...PERSON, status: 'DISABLED' };
export const ENROLMENT_LINK: Static<typeof EnrolmentLinkShape> = { person_id: PERSON_ID, ...EXAMPLE_LINK };
export const ENDED_SESSIONS: Static<typeof EndedSessions> = { person_id: PERSON_ID, ended: 1 };

export const SESSION: Static<typeof SessionShape> = {
  id: '019bc0fd-8ba2-7e52-8d06-c19b7f4a3d28',
  method: 'PASSKEY',
  address: '192.0.2.7',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  created_at: EXAMPLE_AT,
  authenticated_at: EXAMPLE_AT,
  used_at: EXAMPLE_AT,
  expires_at: '2026-01-15T21:30:00.482193Z',
};

export const ME: Static<typeof MeShape> = {
  kind: 'CLIENT',
  id: 'ferry_b4347fb43a4afb2b9f86baf8',
  customer_id: EXAMPLE_IDS.customer,
  scopes: ['funding:read_profile', 'transfer:read_transfer'],
};
