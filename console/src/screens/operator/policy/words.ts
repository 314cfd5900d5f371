import type { components } from '@ferry/client';
import { formatAmount } from '~/lib/money.ts';
import { words } from '~/lib/words.ts';

export type Rule = components['schemas']['PolicyRule'];
export type Scope = components['schemas']['PolicyScope'];

const WINDOWS: Readonly<Record<string, string>> = { HOUR: '60 minutes', DAY: '24 hours', WEEK: '7 days' };
const WHOSE: Readonly<Record<string, string>> = {
  PROFILE: 'of a profile',
  CUSTOMER: 'of a customer',
  ALL: 'of all customers',
};
const money = (amount = '', asset = ''): string => `${formatAmount(amount)} ${asset}`;

/** What a rule does, as a sentence. */
export function ruleInWords(rule: Rule): string {
  switch (rule.type) {
    case 'amount_limit':
      return `Refuses more than ${money(rule.max, rule.asset)} at once.`;
    case 'velocity':
      return `Refuses more than ${money(rule.max, rule.asset)} ${WHOSE[rule.per ?? ''] ?? ''} within ${WINDOWS[rule.window ?? ''] ?? ''}.`;
    case 'destinations': {
      const hours = rule.cooling_off_hours ?? 0;
      const cools = hours > 0 ? ` Holds withdrawals to a new one for ${hours} hours.` : '';
      return `${rule.listed_only === true ? 'Refuses destinations that are not listed.' : 'Allows every destination.'}${cools}`;
    }
    case 'business_hours':
      return `Holds withdrawals outside ${rule.from ?? ''} to ${rule.to ?? ''} on ${(rule.days ?? []).map((day) => words(day)).join(', ')} (${rule.time_zone ?? ''}).`;
    case 'approval':
      return `Holds more than ${money(rule.above, rule.asset)} until somebody approves it.`;
    default:
      return `Holds withdrawals until the screening ${rule.hook ?? ''} has passed them.`;
  }
}

export function scopeInWords(scope: Scope | undefined): string {
  const parts = [
    scope?.rails?.join(', '),
    scope?.assets?.join(', '),
    scope?.customer_ids && `${scope.customer_ids.length} customers`,
    scope?.profile_ids && `${scope.profile_ids.length} profiles`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? 'All withdrawals' : parts.join(' · ');
}
