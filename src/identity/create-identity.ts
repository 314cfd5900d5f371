import type { Static } from 'typebox';
import { actorOf } from '../kernel/actor.ts';
import { newId } from '../kernel/id.ts';
import { type FieldError, invalidRequest } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, type Table, write } from '../ledger/command.ts';
import type { Identity } from './identity.ts';
import type { CreateIdentityRequest } from './schema.ts';

type Request = Static<typeof CreateIdentityRequest>;

/** The type follows from the kind of details. If the request has a type too, it must match. */
function readType(request: Request): Identity['type'] {
  const errors: FieldError[] = [];
  const isPerson = request.person_details !== undefined;
  if (isPerson === (request.institution_details !== undefined)) {
    errors.push({
      pointer: isPerson ? '/institution_details' : '/person_details',
      message: isPerson
        ? 'must not be sent together with person_details'
        : 'is required unless institution_details is sent',
    });
  } else if (request.type !== undefined && (request.type === 'PERSON') !== isPerson) {
    const message = isPerson
      ? 'must be PERSON with person_details'
      : 'must be INSTITUTION with institution_details';
    errors.push({ pointer: '/type', message });
  }
  if (errors.length > 0) throw invalidRequest(errors);
  return isPerson ? 'PERSON' : 'INSTITUTION';
}

export function createIdentityCommand(
  caller: Caller,
  request: Request,
  identities: Table<Identity>,
): Command<Identity> {
  const id = newId();
  const { customerId } = caller;
  const type = readType(request);
  return {
    actor: actorOf(caller),
    customerId,
    key:
      request.ref_id === undefined
        ? undefined
        : {
            customerId,
            space: 'identities',
            refId: request.ref_id,
            resourceId: id,
            request: { ...request, type },
          },
    balances: [],
    decide(view) {
      const identity: Identity = {
        id,
        customerId,
        type,
        personDetails: request.person_details ?? null,
        institutionDetails: request.institution_details ?? null,
        status: 'APPROVED',
        refId: request.ref_id ?? null,
        metadata: request.metadata ?? null,
        createdAtNs: view.recordedAt,
        updatedAtNs: view.recordedAt,
      };
      return {
        accepted: true,
        causeId: id,
        postings: [],
        writes: [write(identities, id, identity)],
        answer: identity,
      };
    },
  };
}
