import type { Static } from 'typebox';
import { erasure, event } from '../events/outbox.ts';
import { type EndUser, type EndUserFacts, endUserFault, endUserKey } from '../identity/rules.ts';
import { type Actor, actorOf } from '../kernel/actor.ts';
import { lowerCase } from '../kernel/event-types.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import { type FieldError, invalidField, invalidRequest, notFound, Problem } from '../kernel/problem.ts';
import type { Answer, Caller } from '../kernel/route.ts';
import {
  type Command,
  type Decision,
  read,
  refuse,
  type Table,
  type View,
  write,
} from '../ledger/command.ts';
import type { WritePath } from '../ledger/write-path.ts';
import type { Networks } from '../networks/register.ts';
import { FIAT_ACCOUNT_EVENTS, type FiatAccountEvent } from './event-types.ts';
import {
  erasedAccount,
  erasedFields,
  FIAT_ACCOUNT_SPACE,
  type FiatAccount,
  presentFiatAccount,
} from './fiat-account.ts';
import { mergedInstructions } from './merge.ts';
import { isWire, textFaults, transliterationsOf } from './network-text.ts';
import {
  automaticReview,
  instructionsFaults,
  kindOf,
  ownerFaults,
  type Review,
  transitionFault,
  versionFault,
} from './rules.ts';
import type { fiatAccountRequests } from './schema.ts';

export type FiatAccountTables = {
  readonly networks: Networks;
  readonly endUsers: Table<EndUserFacts>;
  readonly fiatAccounts: Table<FiatAccount>;
  /** Written for an account when the withdrawals that wait for it have to become due. */
  readonly withdrawalWakes: Table<{ readonly fiatAccountId: string }>;
  /** Whether an account that passes the automatic checks is approved, as in the sandbox. */
  readonly approvesAutomatically: boolean;
};

type CreateRequest = Static<ReturnType<typeof fiatAccountRequests>['create']>;
type UpdateRequest = Static<ReturnType<typeof fiatAccountRequests>['update']>;

/** The event has the account's own fields, and the reason of a review. */
function fiatAccountEvent(networks: Networks, account: FiatAccount, name: FiatAccountEvent, reason?: string) {
  const resource = presentFiatAccount(account, networks);
  return event(
    FIAT_ACCOUNT_EVENTS.types[name],
    account.customerId,
    account.id,
    account.updatedAtNs,
    reason === undefined ? resource : { ...resource, reason },
    false,
    FIAT_ACCOUNT_EVENTS.isSealed,
  );
}

/** Strictly later than the previous change, even if clocks differ: the store distinguishes versions by this time. */
function later(account: FiatAccount, now: Instant): Instant {
  return now > account.updatedAtNs ? now : account.updatedAtNs + 1n;
}

function accept(tables: FiatAccountTables, account: FiatAccount, name: FiatAccountEvent, reason?: string) {
  return {
    accepted: true as const,
    causeId: account.id,
    postings: [],
    writes: [
      write(tables.fiatAccounts, account.id, account),
      fiatAccountEvent(tables.networks, account, name, reason),
    ],
    answer: account,
  };
}

/** Wakes the withdrawals that wait for the account, in the same transaction. */
function withWake<Accepted extends ReturnType<typeof accept>>(tables: FiatAccountTables, accepted: Accepted) {
  const { id } = accepted.answer;
  return {
    ...accepted,
    writes: [...accepted.writes, write(tables.withdrawalWakes, id, { fiatAccountId: id })],
  };
}

function applyReview(tables: FiatAccountTables, account: FiatAccount, review: Review, at: Instant) {
  const { status, reason } = review;
  const reviewed: FiatAccount = { ...account, status, reason, updatedAtNs: at };
  return withWake(tables, accept(tables, reviewed, lowerCase(status), reason));
}

/**
 * Writes a PENDING account, new or changed, and the outcome of its automatic review. The review needs only the account, so
 * it happens in the same transaction, one nanosecond later: a crash cannot separate them. The answer is the PENDING account;
 * the next read shows the outcome.
 */
function handIn(tables: FiatAccountTables, pending: FiatAccount): Decision<FiatAccount> {
  const handedIn = accept(tables, pending, 'pending');
  const review = automaticReview(pending, tables.approvesAutomatically);
  if (review === undefined) return handedIn;
  const { writes } = applyReview(tables, pending, review, pending.updatedAtNs + 1n);
  return { ...handedIn, writes: [...handedIn.writes, ...writes] };
}

function checkFields(faults: readonly FieldError[]): void {
  if (faults.length > 0) throw invalidRequest(faults);
}

function createFaults(caller: Caller, request: CreateRequest, networks: Networks): FieldError[] {
  const faults = [
    ...ownerFaults(request.fiat_account_owner, '/fiat_account_owner'),
    ...instructionsFaults(request.fiat_network_instructions, '/fiat_network_instructions', networks),
    ...textFaults(
      request.fiat_account_owner,
      request.fiat_network_instructions,
      isWire(request.fiat_network_instructions),
    ),
  ];
  if (caller.integration !== 'THIRD_PARTY') return faults;
  for (const name of ['identity_id', 'account_id'] as const) {
    if (request[name] === undefined) {
      faults.push({ pointer: `/${name}`, message: 'is required for third-party integrations' });
    }
  }
  return faults;
}

export function createFiatAccountCommand(
  caller: Caller,
  request: CreateRequest,
  tables: FiatAccountTables,
): Command<FiatAccount> {
  const { networks } = tables;
  checkFields(createFaults(caller, request, networks));
  const { customerId } = caller;
  const id = newId();
  const endUser: EndUser = { identityId: request.identity_id, accountId: request.account_id };
  const acts = endUser.identityId !== undefined || endUser.accountId !== undefined;
  const resourceKey = { customerId, space: FIAT_ACCOUNT_SPACE, resourceId: id };
  return {
    actor: actorOf(caller),
    customerId,
    key: request.ref_id === undefined ? undefined : { ...resourceKey, refId: request.ref_id, request },
    balances: [],
    reads: acts ? [read(tables.endUsers, endUserKey(endUser))] : [],
    decide(view) {
      const pointers = { identity: '/identity_id', account: '/account_id' };
      const facts = acts ? view.row(tables.endUsers, endUserKey(endUser)) : undefined;
      const fault = endUserFault(endUser, facts, customerId, pointers);
      if (fault !== undefined) return refuse(fault);
      return handIn(tables, {
        id,
        customerId,
        status: 'PENDING',
        kind: kindOf(request.fiat_network_instructions, networks),
        fiatAccountOwner: request.fiat_account_owner,
        fiatNetworkInstructions: request.fiat_network_instructions,
        refId: request.ref_id ?? null,
        identityId: request.identity_id ?? null,
        accountId: request.account_id ?? null,
        metadata: request.metadata ?? null,
        createdAtNs: view.recordedAt,
        updatedAtNs: view.recordedAt,
        deletedAtNs: null,
        reason: null,
        versionNs: null,
      });
    },
  };
}

/** Without `customerId` the caller is an operator, who can see the accounts of all customers. Deleted accounts are not found. */
function visible(
  tables: FiatAccountTables,
  view: View,
  id: string,
  customerId: string | undefined,
): FiatAccount | Problem {
  const account = view.row(tables.fiatAccounts, id);
  if (account === undefined || account.deletedAtNs !== null) return notFound('fiat account', id);
  if (customerId !== undefined && account.customerId !== customerId) return notFound('fiat account', id);
  return account;
}

/** A command on an account that exists. */
function onAccount(
  actor: Actor,
  tables: FiatAccountTables,
  id: string,
  customerId: string | undefined,
  decide: (account: FiatAccount, at: Instant) => Decision<FiatAccount>,
): Command<FiatAccount> {
  return {
    actor,
    ...(customerId !== undefined && { customerId }),
    balances: [],
    reads: [read(tables.fiatAccounts, id)],
    decide(view) {
      const account = visible(tables, view, id, customerId);
      return account instanceof Problem ? refuse(account) : decide(account, later(account, view.recordedAt));
    },
  };
}

/**
 * Absent fields keep their values, and so does a number that is sent back as answers show it, masked. After any change the
 * account is PENDING again.
 */
export function updateFiatAccountCommand(
  caller: Caller,
  id: string,
  request: UpdateRequest,
  tables: FiatAccountTables,
): Command<FiatAccount> {
  const { networks } = tables;
  const { fiat_account_owner: owner, fiat_network_instructions: instructions, metadata } = request;
  checkFields([
    ...(owner === undefined ? [] : ownerFaults(owner, '/fiat_account_owner')),
    ...(instructions === undefined
      ? []
      : instructionsFaults(instructions, '/fiat_network_instructions', networks)),
  ]);
  return onAccount(actorOf(caller), tables, id, caller.customerId, (account, at) => {
    // The kind decides the type, the fee and the memo limit of withdrawals, and some may be in flight.
    if (instructions !== undefined && kindOf(instructions, networks) !== account.kind) {
      const message = `must be ${account.kind}, the kind of this account; register another account for another kind`;
      return refuse(invalidField('/fiat_network_instructions', message));
    }
    const merged = mergedInstructions(account, instructions, networks);
    const faults = [
      ...merged.faults,
      ...textFaults(owner, instructions && merged.instructions, isWire(merged.instructions)),
    ];
    if (faults.length > 0) return refuse(invalidRequest(faults));
    return handIn(tables, {
      ...account,
      status: 'PENDING',
      reason: null,
      fiatAccountOwner: owner ?? account.fiatAccountOwner,
      fiatNetworkInstructions: merged.instructions,
      metadata: metadata ?? account.metadata,
      updatedAtNs: at,
    });
  });
}

/** Erases the number, the names and the address, in the account and in its events. Payments that are under way keep their copy. */
export function deleteFiatAccountCommand(
  caller: Caller,
  id: string,
  tables: FiatAccountTables,
): Command<FiatAccount> {
  return onAccount(actorOf(caller), tables, id, caller.customerId, (account, at) => {
    const left = erasedAccount(account, tables.networks);
    const deleted = { ...account, ...left, reason: null, updatedAtNs: at, deletedAtNs: at };
    const accepted = withWake(tables, accept(tables, deleted, 'deleted'));
    return { ...accepted, writes: [...accepted.writes, erasure(id, erasedFields(left))] };
  });
}

export type ReviewScope = {
  /** The owner of the account; undefined for an operator. */
  readonly customerId: string | undefined;
  /** Whether the reviewer was shown this version of the account. Absent in the sandbox, where owners review their own. */
  readonly wasShown?: (account: FiatAccount) => boolean;
};

export function reviewFiatAccountCommand(
  actor: Actor,
  id: string,
  review: Review,
  scope: ReviewScope,
  tables: FiatAccountTables,
): Command<FiatAccount> {
  return onAccount(actor, tables, id, scope.customerId, (account, at) => {
    if (scope.wasShown?.(account) === false) return refuse(versionFault(account));
    const fault = transitionFault(account, review.status);
    if (fault !== undefined) return refuse(fault);
    return applyReview(tables, account, review, at);
  });
}

/** The account, and how payments will spell it. Events have the account alone: deletion erases the names in them. */
export const answerFiatAccount = (account: FiatAccount, networks: Networks) => ({
  ...presentFiatAccount(account, networks),
  ...transliterationsOf(account),
});

/** Executes a command without a ref_id, and answers with the changed account. */
export async function change(
  writePath: WritePath,
  networks: Networks,
  command: Command<FiatAccount>,
): Promise<Answer<ReturnType<typeof answerFiatAccount>>> {
  const outcome = await writePath.submit(command);
  if (outcome.replayed) throw new Error('a command without a ref_id cannot be a replay');
  return { body: answerFiatAccount(outcome.answer, networks) };
}
