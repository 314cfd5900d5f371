import type { FiatAccount } from '../fiat-accounts/fiat-account.ts';
import type { Transfer } from '../transfers/transfer.ts';

const RETURNED = ' The full total was returned.';

/** What a transfer waits for, or how it ended: `secondary_status`. */
export type Words = NonNullable<Transfer['secondaryStatus']>;

export function queued(rail: string): Words {
  return { name: 'QUEUED', detail: `Waiting to be submitted to the ${rail} rail.` };
}

export function awaitingApproval(account: Pick<FiatAccount, 'id'>): Words {
  return {
    name: 'AWAITING_FIAT_ACCOUNT_APPROVAL',
    detail: `Waiting for fiat account ${account.id} to be approved. If it is rejected, the withdrawal fails.`,
  };
}

export function screeningWait(rule: string): Words {
  return { name: 'AWAITING_SCREENING', detail: `Waiting for its screening (rule "${rule}").` };
}

export function refusedByScreening(reason: string): Words {
  return { name: 'REFUSED_BY_SCREENING', detail: `${reason}${RETURNED}` };
}

export const REFUSED: Words = {
  name: 'REFUSED',
  detail: `The approval that a policy requires was refused.${RETURNED}`,
};

export const FROZEN: Words = {
  name: 'FROZEN',
  detail: 'On hold, because a party to it is frozen. It is submitted when the freeze is lifted.',
};

export function submitting(rail: string): Words {
  return { name: 'SUBMITTING', detail: `Being submitted to the ${rail} rail.` };
}

export function submitted(rail: string): Words {
  return { name: 'SUBMITTED', detail: `Accepted by the ${rail} rail; in progress.` };
}

export function confirming(rail: string, { have, need }: { have: number; need: number }): Words {
  return { name: 'CONFIRMING', detail: `${have} of ${need} confirmations on ${rail}.` };
}

export function outcomeUnknown(rail: string): Words {
  return {
    name: 'OUTCOME_UNKNOWN',
    detail: `The ${rail} rail did not confirm that it received the payment. It is being asked; the payment is not sent again until the rail has answered.`,
  };
}

export function refusedAgain(rail: string): Words {
  return {
    name: 'OUTCOME_UNKNOWN',
    detail: `The ${rail} rail rejected a repeated request and may have paid the first one. It is being asked; nothing is returned until the rail has answered.`,
  };
}

export function forgotten(rail: string): Words {
  return {
    name: 'OUTCOME_UNKNOWN',
    detail: `The ${rail} rail accepted the payment and no longer reports it. It is asked again; an operator has to investigate.`,
  };
}

export function unavailable(rail: string): Words {
  return { name: 'RAIL_UNAVAILABLE', detail: `The ${rail} rail is unavailable. The withdrawal is retried.` };
}

export function paid(detail: string): Words {
  return { name: 'PAID', detail };
}

export const PAID_BY_OPERATOR = 'Confirmed as paid by the operator.';

export const NOT_PAID: Words = {
  name: 'NOT_PAID',
  detail: `The operator confirmed that it was not paid.${RETURNED}`,
};

export const CANCELLED: Words = {
  name: 'CANCELLED',
  detail: `Cancelled by the operator before it was submitted.${RETURNED}`,
};

/** Some or all of a payment came back after it was COMPLETED. */
export function returned(isAll: boolean, sentence: string): Words {
  return { name: isAll ? 'RETURNED' : 'PARTLY_RETURNED', detail: sentence };
}

/** `reason` is the public one. */
export function refusedByRail(reason: string): Words {
  return { name: 'FAILED_BY_RAIL', detail: `${reason}${RETURNED}` };
}

export function accountEnded(id: string, how: 'rejected' | 'deleted'): Words {
  return {
    name: how === 'rejected' ? 'FIAT_ACCOUNT_REJECTED' : 'FIAT_ACCOUNT_DELETED',
    detail: `Fiat account ${id} was ${how} before the withdrawal was submitted.${RETURNED}`,
  };
}

export const RENT_EXCEEDED: Words = {
  name: 'MAX_RENT_EXCEEDED',
  detail: `The daily limit for opening token accounts for this destination is exceeded.${RETURNED}`,
};
