import { listQuery, listShape, Several } from '../kernel/paging.ts';
import { closed, DateTime, EMAIL_PATTERN, Id, LABEL_PATTERN } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { METHODS } from './person.ts';
import { ROLES } from './roles.ts';

const Roles = Type.Array(Type.Enum([...ROLES]), {
  minItems: 1,
  maxItems: ROLES.length,
  uniqueItems: true,
  description: 'VIEWER reads, MAKER requests, APPROVER approves, ADMINISTRATOR manages people and webhooks',
});

const Name = Type.String({
  minLength: 1,
  maxLength: LIMITS.personNameLengthMax,
  pattern: LABEL_PATTERN,
  description: 'For people',
});

const Email = Type.String({
  maxLength: LIMITS.emailLengthMax,
  pattern: EMAIL_PATTERN,
  description:
    'Unique among your active people. Finds the person at the first sign-in with an OpenID provider',
});

const CustomerId = Type.Optional(Id('The customer of the person; absent for people of the operator'));

const PERSON = {
  id: Id('Identifier'),
  customer_id: CustomerId,
  name: Name,
  email: Email,
  roles: Roles,
  status: Type.Enum(['ACTIVE', 'DISABLED']),
  passkeys: Type.Integer({ minimum: 0, description: 'Passkeys that the person can sign in with' }),
  created_at: DateTime('Creation time'),
  updated_at: DateTime('Last change of name, roles or status'),
};

const LINK = {
  enrolment_url: Type.String({
    description: 'Send it to the person, who creates a passkey with it, once. It is not shown again',
  }),
  enrolment_expires_at: DateTime('When the link expires'),
};

export const PersonShape = Type.Object(PERSON, { ...closed, title: 'Person' });
export const PersonList = listShape(PersonShape, 'PersonList');
export const CreatedPersonShape = Type.Object({ ...PERSON, ...LINK }, { ...closed, title: 'CreatedPerson' });
export const EnrolmentLinkShape = Type.Object(
  { person_id: Id('Identifier of the person'), ...LINK },
  { ...closed, title: 'EnrolmentLink' },
);

export const PeopleQuery = listQuery(
  {
    ids: Several(Id('Identifier'), 'Ids of people'),
    customer_id: Type.Optional(Id('For the operator: only people of this customer')),
  },
  ['created_at'],
);

export const CreatePersonRequest = Type.Object(
  {
    name: Name,
    email: Email,
    roles: Roles,
    customer_id: Type.Optional(
      Id('For the operator: the customer of the person; without it, the person is one of the operator'),
    ),
  },
  { ...closed, title: 'CreatePersonRequest' },
);

export const ChangePersonRequest = Type.Object(
  { name: Type.Optional(Name), roles: Type.Optional(Roles) },
  { ...closed, minProperties: 1, title: 'ChangePersonRequest' },
);

const SESSION = {
  id: Id('Identifier'),
  method: Type.Enum([...METHODS], { description: 'How the person signed in' }),
  created_at: DateTime('Sign-in'),
  authenticated_at: DateTime('When the person last proved who they are: the sign-in or a step-up'),
  expires_at: DateTime('When the person has to sign in again; earlier if the session is not used'),
};

export const SessionShape = Type.Object(
  {
    ...SESSION,
    address: Type.Optional(Type.String({ description: 'The address that the person signed in from' })),
    user_agent: Type.Optional(Type.String({ description: 'The browser, as it names itself' })),
    used_at: DateTime('Last use, to the minute'),
  },
  { ...closed, title: 'Session' },
);
export const SessionList = listShape(SessionShape, 'SessionList');

export const EndedSessions = Type.Object(
  {
    person_id: Id('Identifier of the person'),
    ended: Type.Integer({ minimum: 0, description: 'How many sessions have ended' }),
  },
  { ...closed, title: 'EndedSessions' },
);

export const MeShape = Type.Object(
  {
    kind: Type.Enum(['CLIENT', 'PERSON']),
    id: Type.String({ description: 'Of the client or the person' }),
    customer_id: CustomerId,
    name: Type.Optional(Name),
    email: Type.Optional(Email),
    roles: Type.Optional(Roles),
    scopes: Type.Array(Type.String(), { description: 'What the caller may do' }),
    session: Type.Optional(Type.Object(SESSION, closed)),
  },
  { ...closed, title: 'Me' },
);
