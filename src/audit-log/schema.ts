import { ActorKindShape } from '../kernel/actor-shape.ts';
import { listQuery, listShape, Several } from '../kernel/paging.ts';
import { closed, DateTime, Id } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';

const Resource = (description: string) =>
  Type.Optional(
    Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description }),
  );

export const AuditEntryShape = Type.Object(
  {
    id: Id('Entry; the same as that of the event, if customers get one'),
    action: Type.String({ description: 'The type of the resource, and what happened: profile.created' }),
    resource_type: Type.String(),
    resource_id: Type.String(),
    customer_id: Type.Optional(Id('Customer whom it concerns')),
    outcome: Type.Enum(['DONE', 'REFUSED']),
    actor: Type.Optional(ActorKindShape),
    before: Resource('The resource before the change; absent if it was created'),
    after: Resource('The resource after the change; absent if it does not exist any more'),
    refusal: Type.Optional(
      Type.Object(
        {
          problem: Type.String(),
          detail: Type.String(),
          attempts: Type.Integer({ description: 'Attempts within a minute that count as one' }),
        },
        closed,
      ),
    ),
    created_at: DateTime('When'),
  },
  { ...closed, title: 'AuditEntry' },
);

export const AuditList = listShape(AuditEntryShape, 'AuditList');

const Word = (description: string) => Type.String({ minLength: 1, maxLength: 200, description });

const FILTERS = {
  ids: Several(Id('Entry'), 'Only these entries'),
  actor_ids: Several(Word('Actor'), 'Only of these clients, people, workers or users'),
  actions: Several(Word('Action, with * for any text'), 'Only these actions, such as fiat_account.*'),
  resource_ids: Several(Word('Resource'), 'Only of these resources'),
};

export const AuditQuery = listQuery(FILTERS, ['created_at']);
export const OperatorAuditQuery = listQuery(
  { ...FILTERS, customer_id: Type.Optional(Id('Only of this customer')) },
  ['created_at'],
);
