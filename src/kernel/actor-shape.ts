import { closed, Id } from './shapes.ts';
import { Type } from './type.ts';

/** An actor in answers. Of actors of others, customers see only the kind. */
export const ActorKindShape = Type.Object(
  {
    kind: Type.Enum(['CLIENT', 'PERSON', 'WORKER', 'CLI']),
    id: Type.Optional(Type.String({ description: 'Client, person, worker, or user of the command line' })),
    customer_id: Type.Optional(Id('Customer of the client or person')),
    name: Type.Optional(Type.String()),
    owner_person_id: Type.Optional(Id('Person who owns the client')),
    from: Type.Optional(Type.String({ description: 'Address that the request came from' })),
    request_id: Type.Optional(Type.String({ description: 'X-Request-Id of the request' })),
  },
  { ...closed, description: 'Who did it', title: 'Actor' },
);
