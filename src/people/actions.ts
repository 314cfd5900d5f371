import type { Declare, Handover, Maker, Proposal, Propose } from '../approvals/action.ts';
import type { Result } from '../approvals/approval.ts';
import type { Database } from '../database/database.ts';
import type { Actor } from '../kernel/actor.ts';
import { formatInstant } from '../kernel/instant.ts';
import type { PrivilegedName } from '../kernel/privileged.ts';
import { notFound } from '../kernel/problem.ts';
import { type Act, actCommand, rehearse } from '../ledger/act.ts';
import {
  type Account,
  activePerson,
  addIn,
  bindIn,
  changeIn,
  type EnrolmentLink,
  linkIn,
  removePasskeysIn,
} from './administration.ts';
import type { Role } from './roles.ts';
import { ownPersonProblem } from './rules.ts';
import { findPerson } from './store.ts';

/** Changes of people that need approval where four eyes are required. The proposals are what approvers see. */

type OfPerson = { readonly person_id: string };

export type NewPersonAsked = OfPerson & {
  /** Absent: of the operator. */
  readonly customer_id?: string;
  readonly name: string;
  readonly email: string;
  readonly roles: readonly Role[];
  /** Random, so that nobody can find the name by trying digests. */
  readonly salt: string;
};

export type PersonChangeAsked = OfPerson & {
  readonly name?: string;
  readonly roles?: readonly Role[];
  /** With which the person can sign in. */
  readonly account?: Account;
  readonly salt: string;
};

export type LinkAsked = OfPerson & { readonly removes_passkeys: boolean };

type Parts = { readonly database: Database; readonly declare: Declare; readonly signInUrl: () => string };

export type AdministeredPerson<Asked extends Proposal> = {
  readonly propose: Propose<Asked>;
  act(asked: Asked): Act;
  handover?(asked: Asked): Handover;
};

export const presentLink = ({ url, expiresAtNs }: EnrolmentLink) => ({
  enrolment_url: url,
  enrolment_expires_at: formatInstant(expiresAtNs),
});

/** The link is made when its maker takes it, and only a digest of it is stored. */
function linkFor({ signInUrl }: Parts, personId: string): Handover {
  let link: EnrolmentLink | undefined;
  return {
    async act(tx, actor) {
      link = await linkIn(tx, actor, personId, signInUrl());
    },
    given: () => ({ person_id: personId, ...(link && presentLink(link)) }),
  };
}

/** Nobody changes their own roles, neither with a session nor with a client of their own. */
export function refuseOwn(
  { id, ownerPersonId }: Pick<Actor, 'id' | 'ownerPersonId'>,
  personId: string,
): void {
  if (id === personId || ownerPersonId === personId) throw ownPersonProblem();
}

const rolesText = (roles: readonly Role[]): string => roles.join(', ');

function changeText({ person_id: id, roles, account }: PersonChangeAsked): string {
  if (account !== undefined) return `Let the person ${id} sign in with an account at ${account.issuer}.`;
  if (roles === undefined) return `Change the name of the person ${id}.`;
  return `Change the roles of the person ${id} to ${rolesText(roles)}.`;
}

function declaring(parts: Parts, whose: 'operator' | 'own') {
  const { database, declare } = parts;
  const isOperator = whose === 'operator';
  return <Asked extends OfPerson & Proposal>(
    name: PrivilegedName,
    summary: (asked: Asked) => string,
    act: (asked: Asked) => Act,
    handover?: (asked: Asked) => Handover,
  ): AdministeredPerson<Asked> => ({
    propose: declare<Asked, Result>({
      name,
      level: isOperator ? 'OPERATOR' : 'CUSTOMER',
      summary,
      async command({ actor, customerId }: Maker, asked) {
        // Of a new person nothing is found yet.
        if (!name.endsWith('.create')) {
          const reach = isOperator ? null : customerId;
          if ((await findPerson(database, reach, asked.person_id)) === undefined)
            throw notFound('person', asked.person_id);
          if (name.endsWith('.change')) refuseOwn(actor, asked.person_id);
        }
        await rehearse(database, actor, act(asked));
        return actCommand(actor, act(asked), { type: 'person', id: asked.person_id });
      },
      result: (made) => made,
      ...(handover && { handover }),
    }),
    act,
    ...(handover && { handover }),
  });
}

function declareFor(parts: Parts, whose: 'operator' | 'own') {
  const declared = declaring(parts, whose);
  const prefix = whose === 'operator' ? 'person' : 'own_person';
  return {
    create: declared<NewPersonAsked>(
      `${prefix}.create`,
      ({ roles, customer_id: customer = 'the operator' }) =>
        `Add a person of ${customer} with the roles ${rolesText(roles)}.`,
      ({ person_id: id, customer_id: customerId = null, name, email, roles }) =>
        (tx, actor) =>
          addIn(tx, actor, id, { customerId, name, email, roles }),
      ({ person_id: id }) => linkFor(parts, id),
    ),
    change: declared<PersonChangeAsked>(
      `${prefix}.change`,
      changeText,
      ({ person_id: id, name, roles, account }) =>
        (tx, actor) =>
          account === undefined
            ? changeIn(tx, actor, id, {
                ...(name !== undefined && { name }),
                ...(roles !== undefined && { roles }),
              })
            : bindIn(tx, actor, id, account),
    ),
    link: declared<LinkAsked>(
      `${prefix}.link`,
      ({ person_id: id, removes_passkeys: removes }) =>
        `Create an enrolment link for the person ${id}${removes ? ', and remove the passkeys' : ''}.`,
      ({ person_id: id, removes_passkeys: removes }) =>
        (tx, actor) =>
          removes ? removePasskeysIn(tx, actor, id) : activePerson(tx, id),
      ({ person_id: id }) => linkFor(parts, id),
    ),
  };
}

export const declarePeopleActions = (parts: Parts) => ({
  operator: declareFor(parts, 'operator'),
  own: declareFor(parts, 'own'),
});

export type PeopleActions = ReturnType<typeof declarePeopleActions>;
