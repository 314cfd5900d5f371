import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { ProblemNotice, Skeleton } from '~/ui/index.ts';
import { Changes, Everything } from '../parts/show.tsx';
import type { Approval } from './page.tsx';

type Proposal = Readonly<Record<string, unknown>>;

const text = (proposal: Proposal, name: string): string | undefined => {
  const value = proposal[name];
  return typeof value === 'string' ? value : undefined;
};

/** What each action does to the world, in a sentence. */
const EFFECTS: Readonly<Record<Approval['action'], string>> = {
  'journal_entry.book':
    'Value moves on the books, as the fields below say. The owners of the profiles get events.',
  'withdrawal.resolve':
    'The withdrawal ends. PAID: it is completed. NOT_PAID: it fails, and its total returns to the profile.',
  'withdrawal.cancel':
    'The withdrawal fails before its rail has received it, and its total returns to the profile.',
  'suspense_deposit.credit':
    'The deposit leaves suspense and is credited to the profile. Its owner gets events.',
  'fiat_account.approve': 'Withdrawals to the account are paid from then on, those that wait for it at once.',
  'fiat_account.reject':
    'The account can not be used. Withdrawals that wait for it fail, and their totals return.',
  'withdrawal.release': 'The withdrawal is handed to its rail, unless something else holds it.',
  'withdrawal.refuse': 'The withdrawal fails, and its total returns to the profile.',
  'own_withdrawal.release': 'The withdrawal is handed to its rail, unless something else holds it.',
  'own_withdrawal.refuse': 'The withdrawal fails, and its total returns to the profile.',
  'policy.change': 'The policy gets a new version, for all withdrawals that are requested from then on.',
  'own_policy.change': 'The policy gets a new version, for all withdrawals that are requested from then on.',
  'own_destination.list': 'Withdrawals to the destination pass policies that allow listed destinations only.',
  'freeze.create': 'No value of what is frozen moves any more. Deposits are credited, and cannot be used.',
  'freeze.lift': 'What waited because of the freeze goes on, unless another freeze stops it.',
  'client.create': 'The client can get tokens with these scopes as soon as it has credentials.',
  'client.change': 'What is below replaces what the client has at once, for its present tokens as well.',
  'client.disable': 'The client gets no more tokens, and those that it has are refused.',
  'client.enable': 'The client can get tokens again.',
  'client.add_credentials': 'The client can also authenticate with the new credentials.',
  'client.remove_credential': 'The client can no longer authenticate with the credential.',
  'person.create': 'The person can sign in after enrolment, with the roles below.',
  'person.change': 'The roles below replace those that the person has.',
  'person.link': 'Who opens the enrolment link registers a passkey and signs in as the person.',
  'own_person.create': 'The person can sign in after enrolment, with the roles below.',
  'own_person.change': 'The roles below replace those that the person has.',
  'own_person.link': 'Who opens the enrolment link registers a passkey and signs in as the person.',
};

const LINKS: Readonly<Record<string, (proposal: Proposal) => [string, string] | undefined>> = {
  withdrawal: (proposal) => {
    const id = text(proposal, 'id') ?? text(proposal, 'transfer_id');
    return id === undefined ? undefined : [`/operator/withdrawals/${id}`, 'The withdrawal'];
  },
  suspense_deposit: (proposal) => {
    const id = text(proposal, 'id') ?? text(proposal, 'suspense_deposit_id');
    return id === undefined ? undefined : [`/operator/suspense?open=${id}`, 'The deposit'];
  },
  fiat_account: (proposal) => {
    const id = text(proposal, 'id');
    return id === undefined ? undefined : [`/operator/reviews?open=${id}`, 'The fiat account'];
  },
  freeze: (proposal) => {
    const id = text(proposal, 'id');
    return id === undefined ? undefined : [`/operator/freezes?open=${id}`, 'The freeze'];
  },
};

/** The proposal exactly as it is stored, what it does, and for policies what it changes. */
export function WhatHappens({ approval }: { readonly approval: Approval }) {
  const { action, proposal, status } = approval;
  const link = LINKS[action.split('.')[0]!]?.(proposal);
  const parts: ReactNode[] = [
    <p key="effect" className="text-sm">
      {EFFECTS[action]}{' '}
      {link !== undefined && (
        <Link to={link[0]} className="whitespace-nowrap text-accent hover:underline">
          {link[1]}
        </Link>
      )}
    </p>,
  ];
  if (action === 'policy.change' && status === 'PENDING')
    parts.push(<PolicyChanges key="changes" proposal={proposal} />);
  return (
    <div className="flex flex-col gap-4">
      {parts}
      <div>
        <h3 className="eyebrow mb-2">Exactly what is proposed</h3>
        <Everything value={proposal} />
      </div>
    </div>
  );
}

/** Against the version that is in force. */
function PolicyChanges({ proposal }: { readonly proposal: Proposal }) {
  const name = text(proposal, 'name');
  const read = useQuery({
    queryKey: ['policy-of-name', name],
    queryFn: async () => {
      for await (const one of ferry.listPolicies({ limit: 200 }))
        if (one.name === name && one.customer_id === undefined) return one;
      return null;
    },
  });
  if (read.error !== null) return <ProblemNotice error={read.error} />;
  if (read.data === undefined) return <Skeleton className="h-16 w-full" />;
  if (read.data === null) return <p className="text-sm">There is no policy of this name yet.</p>;
  const { enabled, applies_to, rules, version } = read.data;
  return (
    <div>
      <h3 className="eyebrow mb-2">What changes against version {version}</h3>
      <Changes
        before={{ enabled, applies_to, rules }}
        after={{ enabled: proposal.enabled, applies_to: proposal.applies_to, rules: proposal.rules }}
      />
    </div>
  );
}
