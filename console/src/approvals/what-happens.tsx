import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { Changes, Everything, ProblemNotice, Skeleton } from '~/ui/index.ts';
import { type Approval, EFFECTS } from './effects.ts';

type Proposal = Readonly<Record<string, unknown>>;

const text = (proposal: Proposal, name: string): string | undefined => {
  const value = proposal[name];
  return typeof value === 'string' ? value : undefined;
};

const LINKS: Readonly<Record<string, (proposal: Proposal) => [string, string] | undefined>> = {
  own_withdrawal: (proposal) => {
    const id = text(proposal, 'id');
    return id === undefined ? undefined : [`/transfers/${id}`, 'The withdrawal'];
  },
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
  if (action.endsWith('policy.change') && status === 'PENDING')
    parts.push(<PolicyChanges key="changes" proposal={proposal} isOwn={action.startsWith('own_')} />);
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
function PolicyChanges({ proposal, isOwn }: { readonly proposal: Proposal; readonly isOwn: boolean }) {
  const name = text(proposal, 'name');
  const read = useQuery({
    queryKey: ['policy-of-name', name, isOwn],
    queryFn: async () => {
      const policies = isOwn ? ferry.listOwnPolicies({ limit: 200 }) : ferry.listPolicies({ limit: 200 });
      for await (const one of policies)
        if (one.name === name && (isOwn || one.customer_id === undefined)) return one;
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
