import { invalidField, notFound, Problem } from '../kernel/problem.ts';

/** The end user that a request is made for: an identity, an account, or both. */
export type EndUser = { readonly identityId: string | undefined; readonly accountId: string | undefined };

export type EndUserStatus = 'APPROVED' | 'DISABLED' | 'FROZEN';

export type EndUserFacts = {
  /** Undefined if there is no such identity. */
  readonly identity: { readonly customerId: string; readonly status: EndUserStatus } | undefined;
  readonly account: { readonly customerId: string; readonly ownerStatus: EndUserStatus } | undefined;
  /** The identity owns the account or is its member. */
  readonly linked: boolean;
};

export function endUserKey(endUser: EndUser): string {
  return `${endUser.identityId ?? ''}/${endUser.accountId ?? ''}`;
}

const WORDS = { DISABLED: 'disabled', FROZEN: 'frozen' } as const;

function stoppedProblem(id: string, status: EndUserStatus): Problem | undefined {
  if (status === 'APPROVED') return undefined;
  return new Problem('forbidden', `Identity ${id} is ${WORDS[status]}.`, { identity_id: id });
}

/** Identity and account must exist, belong to the customer, and be linked. `pointers` name the fields of the request. */
export function endUserFault(
  endUser: EndUser,
  facts: EndUserFacts | undefined,
  customerId: string,
  pointers: { identity: string; account: string },
): Problem | undefined {
  const { identityId, accountId } = endUser;
  if (identityId !== undefined && facts?.identity?.customerId !== customerId) {
    return notFound('identity', identityId);
  }
  if (accountId !== undefined && facts?.account?.customerId !== customerId) {
    return notFound('account', accountId);
  }
  if (identityId !== undefined && facts?.identity !== undefined) {
    const stopped = stoppedProblem(identityId, facts.identity.status);
    if (stopped !== undefined) return stopped;
  }
  // Otherwise a request could bypass a disabled identity by naming only the account. The owner's id is not disclosed.
  const ownerStatus = facts?.account?.ownerStatus ?? 'APPROVED';
  if (ownerStatus !== 'APPROVED') {
    return new Problem('forbidden', `The identity that owns account ${accountId} is ${WORDS[ownerStatus]}.`);
  }
  if (identityId !== undefined && accountId !== undefined && facts?.linked !== true) {
    return invalidField(
      pointers.account,
      `must be an account that ${pointers.identity.slice(1)} owns or is a member of`,
    );
  }
  return undefined;
}

/** The identity must exist, belong to the customer, and not be disabled. */
export function identityFault(
  id: string,
  identity: EndUserFacts['identity'],
  customerId: string,
): Problem | undefined {
  if (identity?.customerId !== customerId) return notFound('identity', id);
  return stoppedProblem(id, identity.status);
}
