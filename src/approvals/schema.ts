import { ActorKindShape } from '../kernel/actor-shape.ts';
import { listQuery, listShape, Several } from '../kernel/paging.ts';
import { PRIVILEGED_NAMES } from '../kernel/privileged.ts';
import { closed, DateTime, DIGEST_PATTERN, Id, LABEL_PATTERN } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';

const VoteShape = Type.Object(
  {
    decision: Type.Enum(['APPROVED', 'REJECTED']),
    by: ActorKindShape,
    created_at: DateTime('When'),
    reason: Type.Optional(Type.String()),
  },
  closed,
);

const Anything = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description });

const ACTION = { description: 'What is proposed' };
const STATUSES = ['PENDING', 'EXECUTED', 'FAILED', 'REJECTED', 'EXPIRED'] as const;

export const ApprovalShape = Type.Object(
  {
    id: Id('Request'),
    action: Type.Enum([...PRIVILEGED_NAMES], ACTION),
    level: Type.Enum(['OPERATOR', 'CUSTOMER'], { description: 'Who approves it' }),
    status: Type.Enum([...STATUSES]),
    summary: Type.String({ description: 'What will happen' }),
    proposal: Anything('Exactly what is proposed'),
    digest: Type.String({ description: 'Of exactly what is proposed; a vote names it' }),
    maker: ActorKindShape,
    quorum: Type.Integer({ description: 'How many must approve it' }),
    approvers: Type.Optional(Type.Array(Type.String(), { description: 'The only ones who may approve it' })),
    votes: Type.Array(VoteShape),
    problem: Type.Optional(
      Type.Object(
        { slug: Type.String(), title: Type.String(), detail: Type.String() },
        { ...closed, description: 'Why the execution was refused' },
      ),
    ),
    result: Type.Optional(
      Type.Object(
        { type: Type.String(), id: Type.String() },
        { ...closed, description: 'What the execution made' },
      ),
    ),
    ref_id: Type.Optional(Type.String()),
    created_at: DateTime('When it was proposed'),
    updated_at: DateTime('When it changed last'),
    expires_at: DateTime('When it expires, unless it was decided before'),
    claimed_at: Type.Optional(DateTime('When its maker took the secret or the enrolment link')),
  },
  { ...closed, title: 'Approval' },
);

const Digest = Type.String({
  pattern: DIGEST_PATTERN,
  description: 'The digest of the request that you have seen',
});
const Reason = Type.String({
  minLength: 1,
  maxLength: LIMITS.approvalReasonMax,
  pattern: LABEL_PATTERN,
  description: 'Why',
});

export const ApproveBody = Type.Object({ digest: Digest, reason: Type.Optional(Reason) }, closed);
export const RejectBody = Type.Object({ digest: Digest, reason: Reason }, closed);

export const ClaimShape = Type.Object(
  {
    approval_id: Id('Request'),
    client_id: Type.Optional(Type.String()),
    secret_id: Type.Optional(Id('Secret of the client')),
    client_secret: Type.Optional(Type.String({ description: 'Store it now: it is not shown again' })),
    person_id: Type.Optional(Id('Person')),
    enrolment_url: Type.Optional(
      Type.String({ description: 'Send it to the person, who creates a passkey with it, once' }),
    ),
    enrolment_expires_at: Type.Optional(DateTime('When the link expires')),
  },
  { ...closed, title: 'Claim' },
);

export const ApprovalList = listShape(ApprovalShape, 'ApprovalList');
export const ApprovalListQuery = listQuery(
  {
    ids: Several(Id('Request'), 'Only these requests'),
    statuses: Several(Type.Enum([...STATUSES]), 'Only with one of these statuses'),
    actions: Several(Type.Enum([...PRIVILEGED_NAMES]), 'Only these actions'),
  },
  ['created_at'],
);
