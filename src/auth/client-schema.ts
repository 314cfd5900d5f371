import { listQuery, listShape, One, Several } from '../kernel/paging.ts';
import { closed, DateTime, Id, LABEL_PATTERN } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { SCOPE_NAMES } from './scopes.ts';

const CLIENT_ID_PATTERN = '^[\\x21-\\x7e]{1,128}$';

const ClientId = (description: string) => Type.String({ pattern: CLIENT_ID_PATTERN, description });

const Scopes = Type.Array(Type.Enum([...SCOPE_NAMES]), {
  minItems: 1,
  maxItems: SCOPE_NAMES.length,
  uniqueItems: true,
  description: 'What the client may do',
});

const Addresses = Type.Array(Type.String({ minLength: 2, maxLength: 64 }), {
  maxItems: LIMITS.clientAddressesMax,
  description: 'Addresses or ranges that the client may be used from; empty: anywhere',
});

const CLIENT = {
  client_id: ClientId('Identifier'),
  customer_id: Id('The customer of the client'),
  name: Type.String({ description: 'A label' }),
  scopes: Type.Array(Type.String()),
  allowed_addresses: Type.Optional(Type.Array(Type.String())),
  owner_person_id: Type.Optional(Id('The person who owns it')),
  created_at: DateTime('Creation time'),
  disabled_at: Type.Optional(DateTime('Since when it is disabled; absent: it is not')),
};

const Secret = Type.Optional(Type.String({ description: 'Store it now: it is not shown again' }));

export const ClientShape = Type.Object(CLIENT, { ...closed, title: 'OAuthClient' });
export const ClientList = listShape(ClientShape, 'ClientList');
const statuses = Several(Type.Enum(['ACTIVE', 'DISABLED']), 'In these statuses');
export const ClientsQuery = listQuery({ customer_id: One(Id('Customer'), 'Of this customer'), statuses }, [
  'created_at',
]);
export const OwnClientsQuery = listQuery({ statuses }, ['created_at']);
export const CreatedClientShape = Type.Object(
  { ...CLIENT, client_secret: Secret },
  { ...closed, title: 'CreatedClient' },
);

export const ClientDetailsShape = Type.Object(
  {
    ...CLIENT,
    credentials: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'Of a secret, or the key id (`kid`)' }),
          type: Type.Enum(['SECRET', 'KEY']),
          created_at: DateTime('When it was added'),
          expires_at: Type.Optional(DateTime('From then on it is refused')),
        },
        closed,
      ),
    ),
  },
  { ...closed, title: 'ClientDetails' },
);

export const CredentialsShape = Type.Object(
  {
    client_id: ClientId('Identifier'),
    credential_ids: Type.Array(Type.String(), { description: 'What was added or removed' }),
    client_secret: Secret,
  },
  { ...closed, title: 'ClientCredentials' },
);

/** Ids of clients of an external issuer are not UUIDs. */
export const ClientParams = Type.Object({ client_id: ClientId('Identifier of the client') }, closed);
export const CredentialParams = Type.Object(
  {
    client_id: ClientId('Identifier of the client'),
    credential_id: Type.String({
      pattern: CLIENT_ID_PATTERN,
      description: 'Id of a secret, or `kid` of a key',
    }),
  },
  closed,
);

const Member = Type.Optional(Type.String({ maxLength: LIMITS.keyMemberLengthMax }));

/** The members of public keys: a private one, such as `d`, is refused as an unknown field. */
const PublicJwk = Type.Object(
  {
    kty: Type.String({ maxLength: LIMITS.keyMemberLengthMax, description: 'Type of the key' }),
    kid: Member,
    alg: Member,
    use: Member,
    key_ops: Type.Optional(
      Type.Array(Type.String({ maxLength: LIMITS.keyMemberLengthMax }), { maxItems: 10 }),
    ),
    crv: Member,
    x: Member,
    y: Member,
    n: Member,
    e: Member,
  },
  { ...closed, title: 'PublicJwk' },
);

const Keys = Type.Array(PublicJwk, {
  minItems: 1,
  maxItems: LIMITS.clientKeysMax,
  description: 'Public JSON Web Keys (RFC 7517) with which the client authenticates: then it gets no secret',
});

export const CreateClientRequest = Type.Object(
  {
    customer_id: Id('The customer of the client'),
    name: Type.String({
      minLength: 1,
      maxLength: LIMITS.partyNameLengthMax,
      pattern: LABEL_PATTERN,
      description: 'A label',
    }),
    scopes: Scopes,
    owner_person_id: Type.Optional(Id('The person who owns it: counts as that person in approvals')),
    keys: Type.Optional(Keys),
    external_id: Type.Optional(ClientId('The id of the client at your external issuer: it gets no secret')),
  },
  { ...closed, title: 'CreateClientRequest' },
);

export const ChangeClientRequest = Type.Object(
  {
    scopes: Type.Optional(Scopes),
    allowed_addresses: Type.Optional(Addresses),
    owner_person_id: Type.Optional(Id('The person who owns it')),
  },
  { ...closed, minProperties: 1, title: 'ChangeClientRequest' },
);

export const AddCredentialsRequest = Type.Object(
  {
    keys: Type.Optional(Keys),
    expires_at: Type.Optional(
      DateTime('Of the new secret, if no keys are given: from then on it is refused'),
    ),
  },
  { ...closed, title: 'AddCredentialsRequest' },
);
