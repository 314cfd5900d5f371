import type { FiatAccount } from '../fiat-accounts/fiat-account.ts';
import type { Transfer } from '../transfers/transfer.ts';

const RETURNED = ' All of the total was returned.';

/** What a transfer waits for, or how it ended, in words: `secondary_status`. */
export type Words = NonNullable<Transfer['secondaryStatus']>;

export function queued(rail: string): Words {
  return { name: 'QUEUED', detail: `Waits to be submitted to the ${rail} rail.` };
}

export function awaitingApproval(account: Pick<FiatAccount, 'id'>): Words {
  return {
    name: 'AWAITING_FIAT_ACCOUNT_APPROVAL',
    detail: `Goes out when fiat account ${account.id} is approved, and fails if it is rejected.`,
  };
}

export function submitting(rail: string): Words {
  return { name: 'SUBMITTING', detail: `Is being submitted to the ${rail} rail.` };
}

export function submitted(rail: string): Words {
  return { name: 'SUBMITTED', detail: `The ${rail} rail has it and works on it.` };
}

export function confirming(rail: string, { have, need }: { have: number; need: number }): Words {
  return { name: 'CONFIRMING', detail: `${rail} has confirmed it ${have} of ${need} times.` };
}

export function outcomeUnknown(rail: string): Words {
  return {
    name: 'OUTCOME_UNKNOWN',
    detail: `The ${rail} rail did not say whether it took the payment on. It is being asked; nothing is sent again before it has answered.`,
  };
}

export function refusedAgain(rail: string, reason: string): Words {
  return {
    name: 'OUTCOME_UNKNOWN',
    detail: `The ${rail} rail refused a second request (${reason}) and may have paid the first one. It is being asked; nothing is returned before it has answered.`,
  };
}

export function forgotten(rail: string): Words {
  return {
    name: 'OUTCOME_UNKNOWN',
    detail: `The ${rail} rail took the payment on and no longer knows it. It is asked again; an operator has to look.`,
  };
}

export function unavailable(rail: string): Words {
  return { name: 'RAIL_UNAVAILABLE', detail: `The ${rail} rail is not available. It is tried again.` };
}

export function paid(detail: string): Words {
  return { name: 'PAID', detail };
}

export function refusedByRail(reason: string): Words {
  return { name: 'FAILED_BY_RAIL', detail: `${reason}${RETURNED}` };
}

export function accountEnded(id: string, how: 'rejected' | 'deleted'): Words {
  return {
    name: how === 'rejected' ? 'FIAT_ACCOUNT_REJECTED' : 'FIAT_ACCOUNT_DELETED',
    detail: `Fiat account ${id} was ${how} before the withdrawal went out.${RETURNED}`,
  };
}

export const RENT_EXCEEDED: Words = {
  name: 'MAX_RENT_EXCEEDED',
  detail: `Too many token accounts were opened for this destination today.${RETURNED}`,
};
