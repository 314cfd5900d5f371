import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS, EXAMPLE_LATER } from '../kernel/examples.ts';
import { Problem } from '../kernel/problem.ts';
import type { ProblemExamples } from '../kernel/problem-examples.ts';
import { unknown } from './administration-error.ts';
import type {
  ClientDetailsShape,
  ClientShape,
  CreatedClientShape,
  CredentialsShape,
} from './client-schema.ts';

const CLIENT_ID = 'ferry_b4347fb43a4afb2b9f86baf8';
const SECRET_ID = '019bc0fd-8ba2-7e91-9b3d-7c1f5a20d684';
const CLIENT_SECRET = 'ferry_secret_EXAMPLE-f3b1c0de9a8d7c6b5a493827160f5e4d';

export const NEW_CLIENT = {
  customer_id: EXAMPLE_IDS.customer,
  name: 'back office',
  scopes: ['funding:read_profile' as const, 'transfer:read_transfer' as const],
};

export const CLIENT: Static<typeof ClientShape> = {
  client_id: CLIENT_ID,
  ...NEW_CLIENT,
  created_at: EXAMPLE_AT,
};

export const CLIENT_DETAILS: Static<typeof ClientDetailsShape> = {
  ...CLIENT,
  credentials: [{ id: SECRET_ID, type: 'SECRET', created_at: EXAMPLE_AT }],
};
export const CREATED_CLIENT: Static<typeof CreatedClientShape> = { ...CLIENT, client_secret: CLIENT_SECRET };
export const CHANGED_CLIENT: Static<typeof ClientShape> = { ...CLIENT, scopes: ['funding:read_profile'] };
export const DISABLED_CLIENT: Static<typeof ClientShape> = { ...CLIENT, disabled_at: EXAMPLE_LATER };
export const ADDED_CREDENTIAL: Static<typeof CredentialsShape> = {
  client_id: CLIENT_ID,
  credential_ids: [SECRET_ID],
  client_secret: CLIENT_SECRET,
};
export const REMOVED_CREDENTIAL: Static<typeof CredentialsShape> = {
  client_id: CLIENT_ID,
  credential_ids: [SECRET_ID],
};

export const CLIENT_PROBLEMS: ProblemExamples = {
  'not-found': ({ example }) =>
    example === NEW_CLIENT ? unknown('customer', NEW_CLIENT.customer_id) : unknown('client', CLIENT_ID),
  'invalid-state': () =>
    new Problem(
      'invalid-state',
      `The client has 2 secrets, which is the maximum. Remove one of them first: ${SECRET_ID}.`,
      { status: 'FULL' },
    ),
};
