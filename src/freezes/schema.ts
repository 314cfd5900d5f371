import { listQuery, listShape, Several } from '../kernel/paging.ts';
import { closed, DateTime, Id, LABEL_PATTERN } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { FREEZE_SCOPES } from './freeze.ts';

const Reason = (description: string) =>
  Type.String({ minLength: 1, maxLength: LIMITS.reasonLengthMax, pattern: LABEL_PATTERN, description });

export const FreezeRequest = Type.Object(
  {
    scope: Type.Enum([...FREEZE_SCOPES], { description: 'What is frozen' }),
    subject_id: Type.Optional(Id('The customer, identity or profile; absent for the platform')),
    reason: Reason('Why, for operators only'),
  },
  { ...closed, title: 'FreezeRequest' },
);

export const LiftRequest = Type.Object(
  { reason: Reason('Why it is lifted, for operators only') },
  { ...closed, title: 'LiftFreezeRequest' },
);

const fields = {
  id: Id('Identifier of the freeze'),
  scope: Type.Enum([...FREEZE_SCOPES]),
  subject_id: Type.Optional(Id('The customer, identity or profile; absent for the platform')),
  status: Type.Enum(['IN_FORCE', 'LIFTED']),
  reason: Type.String({ description: 'Why' }),
  frozen_by: Type.String({ description: 'Who: `client:<id>`, `person:<id>` or `cli:<user>`' }),
  created_at: DateTime('When it was frozen'),
  lifted_by: Type.Optional(Type.String({ description: 'Who has lifted it' })),
  lifted_because: Type.Optional(Type.String({ description: 'Why it was lifted' })),
  lifted_at: Type.Optional(DateTime('When it was lifted')),
};

export const FreezeShape = Type.Object(fields, { ...closed, title: 'Freeze' });

export const FrozenShape = Type.Object(
  {
    ...fields,
    in_force: Type.Boolean({
      description:
        'Every transaction that began before the freeze has ended. If false, one is still running and may not see the freeze.',
    }),
    submissions_under_way: Type.Integer({
      description:
        'Payments that were being handed to a rail before the freeze and still are. 0: nothing more is submitted.',
    }),
  },
  { ...closed, title: 'FrozenNow' },
);

export const FreezeQuery = listQuery(
  {
    statuses: Several(Type.Enum(['IN_FORCE', 'LIFTED']), 'In these statuses'),
    scopes: Several(Type.Enum([...FREEZE_SCOPES]), 'Of these scopes'),
  },
  ['created_at'],
);

export const FreezeList = listShape(FreezeShape, 'FreezeList');
