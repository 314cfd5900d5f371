/** What operators can do about each reason why a withdrawal waits. By the `name` of its `secondary_status`. */
export type Advice = {
  readonly means: string;
  readonly todo: string;
  readonly link?: { readonly to: string; readonly label: string };
};

const RAIL = { to: '/operator/rails', label: 'Health of the rails' };

export const ADVICE: Readonly<Record<string, Advice>> = {
  QUEUED: {
    means: 'It waits for its turn. The rail has received nothing.',
    todo: 'It normally takes a moment. If it lasts, look at the health of the rail; it can still be cancelled.',
    link: RAIL,
  },
  RAIL_UNAVAILABLE: {
    means: 'The rail does not answer. It has certainly not received the payment.',
    todo: 'Nothing: it is retried, at growing intervals. Cancel it if it must not be paid any more.',
    link: RAIL,
  },
  AWAITING_APPROVAL: {
    means: 'A policy requires that somebody approves it. The rail has received nothing.',
    todo: 'Somebody with the role approver releases or refuses it. If the policy is the customer’s own, only the customer can.',
    link: { to: '/operator/policies', label: 'Policies' },
  },
  AWAITING_SCREENING: {
    means: 'A policy requires a screening, and its result is not there yet.',
    todo: 'The screening is asked again by itself. Its requests and results are in the notes below.',
    link: { to: '/operator/policies', label: 'Policies' },
  },
  COOLING_OFF: {
    means: 'The destination is new, and a policy lets it cool off.',
    todo: 'Nothing: it goes on at the time above.',
    link: { to: '/operator/policies', label: 'Policies' },
  },
  OUTSIDE_BUSINESS_HOURS: {
    means: 'A policy lets withdrawals pass at certain hours only.',
    todo: 'Nothing: it goes on at the time above.',
    link: { to: '/operator/policies', label: 'Policies' },
  },
  FROZEN: {
    means: 'Its profile, identity or customer, or the platform, is frozen.',
    todo: 'It goes on when the freeze is lifted.',
    link: { to: '/operator/freezes?statuses=IN_FORCE', label: 'Freezes in force' },
  },
  AWAITING_FIAT_ACCOUNT_APPROVAL: {
    means: 'The bank account that it goes to has not been reviewed.',
    todo: 'Approve or reject the fiat account. If it is rejected, the withdrawal fails and its total returns.',
    link: { to: '/operator/reviews', label: 'Fiat accounts to review' },
  },
  OUTCOME_UNKNOWN: {
    means:
      'The rail may have the payment, and does not say so. It is not sent again before the rail has answered.',
    todo: 'The rail is asked again by itself. If it stays silent, ask the bank or look at the chain, and resolve the withdrawal with the evidence.',
    link: RAIL,
  },
  SUBMITTING: {
    means: 'It is being handed to the rail at this moment.',
    todo: 'Nothing. If the process was killed meanwhile, another one finds out what happened.',
  },
  SUBMITTED: {
    means: 'The rail has accepted it and works on it.',
    todo: 'Nothing: the rail is asked for its progress. If the rail says that it ended and cannot report it, resolve it with the evidence.',
    link: RAIL,
  },
  CONFIRMING: {
    means: 'It is on the chain, and gathers confirmations.',
    todo: 'Nothing: it completes with the last confirmation.',
  },
};
