import type { components } from '@ferry/client';
import { type ReactNode, useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { useMay } from '~/app/session.ts';
import { useProfileName } from '~/customer/data.ts';
import {
  Button,
  ConfirmDialog,
  EmptyState,
  Icon,
  LinkButton,
  Sentence,
  StatusBadge,
  Time,
  toast,
} from '~/ui/index.ts';
import { Countdown } from './countdown.tsx';
import { LegTexts, OwnLegs } from './legs.tsx';
import { Network } from './network.tsx';

export type Settlement = components['schemas']['SettlementTransaction'];

type Props = {
  readonly open: readonly Settlement[];
  readonly recent: readonly Settlement[];
  /** The own profiles. */
  readonly own: ReadonlySet<string>;
  readonly isCut: boolean;
};

/** By whose turn it is: yours to affirm, the other party's, nobody's any more. */
export function Board({ open, recent, own, isCut }: Props) {
  const pending = open.filter(({ status }) => status === 'PENDING');
  const offers = pending.filter((one) => own.has(one.target_profile_id));
  const offered = pending.filter((one) => !own.has(one.target_profile_id));
  const affirmed = open.filter(({ status }) => status === 'AFFIRMED');
  if (open.length + recent.length === 0)
    return (
      <EmptyState
        icon="settlement"
        title="No settlement yet"
        action={<LinkButton to="/new/settlement">Offer a settlement</LinkButton>}
      >
        Two parties agree on an exchange, one offers it and the other affirms it. All its legs settle at once,
        or none. Offers to you appear here as well.
      </EmptyState>
    );
  return (
    <>
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-3">
        <Column name="For you to affirm" count={offers.length} isUrgent={offers.length > 0}>
          {offers.map((one) => (
            <Card key={one.id} one={one} own={own} />
          ))}
          {offers.length === 0 && <None>Offers of other parties wait here for your answer.</None>}
        </Column>
        <Column name="Waiting for the other party" count={offered.length}>
          {offered.map((one) => (
            <Card key={one.id} one={one} own={own} />
          ))}
          {offered.length === 0 && <None>What you offer waits here until it is affirmed.</None>}
        </Column>
        <Column name="Affirmed, waiting to settle" count={affirmed.length}>
          {affirmed.map((one) => (
            <Card key={one.id} one={one} own={own} />
          ))}
          {affirmed.length === 0 && (
            <None>Affirmed transactions settle by themselves, when both sides have the funds.</None>
          )}
        </Column>
      </div>
      {isCut && <p className="text-xs text-quiet">Only the latest are here. The list has all of them.</p>}
      <Network open={affirmed} own={own} />
      <Recent recent={recent} />
    </>
  );
}

const None = ({ children }: { readonly children: ReactNode }) => (
  <p className="rounded-lg border border-dashed border-line-strong px-3 py-4 text-sm text-quiet">
    {children}
  </p>
);

function Column({
  name,
  count,
  isUrgent = false,
  children,
}: {
  readonly name: string;
  readonly count: number;
  readonly isUrgent?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <section className="flex min-w-0 flex-col gap-2">
      <h2 className="flex items-center gap-2 text-sm font-semibold">
        {name}
        <span
          className={`rounded-full px-2 text-xs ${isUrgent ? 'bg-warn-soft text-warn' : 'bg-raised text-quiet'}`}
        >
          {count}
        </span>
      </h2>
      {children}
    </section>
  );
}

function Card({ one, own }: { readonly one: Settlement; readonly own: ReadonlySet<string> }) {
  const nameOf = useProfileName();
  const isSource = own.has(one.source_profile_id);
  const mine = isSource ? one.source_profile_id : one.target_profile_id;
  const other = isSource ? one.target_profile_id : one.source_profile_id;
  return (
    <article className="flex flex-col gap-2.5 rounded-xl border border-line bg-panel p-3">
      <header className="flex items-baseline justify-between gap-2">
        <Link to={`/settlements/${one.id}`} className="truncate text-sm font-medium hover:underline">
          {nameOf(mine)} ⇄ {nameOf(other) ?? <span className="font-mono text-xs">…{other.slice(-8)}</span>}
        </Link>
        <Countdown start={one.settlement_window_start} end={one.settlement_window_end} />
      </header>
      <OwnLegs legs={one.legs} isSource={isSource} />
      {one.secondary_status !== undefined && (
        <p className="flex gap-1.5 text-xs text-quiet">
          <Icon name="clock" className="mt-px size-3.5 shrink-0" />
          <Sentence text={one.secondary_status.detail} nameOf={nameOf} />
        </p>
      )}
      <Answers one={one} own={own} />
    </article>
  );
}

/** Affirm for the target, cancel for the source; both while it is pending. */
export function Answers({ one, own }: { readonly one: Settlement; readonly own: ReadonlySet<string> }) {
  const mayWrite = useMay('settlement:write_transaction');
  const [asked, setAsked] = useState<'affirm' | 'cancel'>();
  const [isSource, isTarget] = [own.has(one.source_profile_id), own.has(one.target_profile_id)];
  if (!mayWrite || one.status !== 'PENDING') return null;
  const answer = async (): Promise<void> => {
    await (asked === 'affirm'
      ? ferry.affirmSettlementTransaction({ id: one.id })
      : ferry.cancelSettlementTransaction({ id: one.id }));
    await queryClient.invalidateQueries();
    toast(
      asked === 'affirm' ? 'Affirmed. It settles when both sides have the funds.' : 'Cancelled the offer.',
    );
  };
  return (
    <div className="flex gap-2">
      {isTarget && (
        <Button variant="primary" icon="check" onClick={() => setAsked('affirm')}>
          Affirm
        </Button>
      )}
      {isSource && <Button onClick={() => setAsked('cancel')}>Cancel the offer</Button>}
      <ConfirmDialog
        open={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={asked === 'affirm' ? 'Affirm this settlement?' : 'Cancel this offer?'}
        description={
          asked === 'affirm'
            ? 'You commit to it: it settles by itself within its window, and cannot be cancelled any more.'
            : 'The other party can then no longer affirm it.'
        }
        action={asked === 'affirm' ? 'Affirm' : 'Cancel the offer'}
        danger={asked === 'cancel'}
        onConfirm={answer}
      >
        <OwnLegs legs={one.legs} isSource={asked !== 'affirm'} />
        <p className="text-xs text-quiet">
          Window until <Time at={one.settlement_window_end} />
        </p>
      </ConfirmDialog>
    </div>
  );
}

function Recent({ recent }: { readonly recent: readonly Settlement[] }) {
  if (recent.length === 0) return null;
  return (
    <section className="rounded-xl border border-line bg-panel">
      <h2 className="border-b border-line px-4 py-2.5 text-sm font-semibold">Ended last</h2>
      <ul>
        {recent.map((one) => (
          <li
            key={one.id}
            className="relative flex items-center gap-3 border-b border-line/60 px-4 py-2 text-sm last:border-0 hover:bg-hover"
          >
            <Link
              to={`/settlements/${one.id}`}
              className="min-w-0 flex-1 truncate after:absolute after:inset-0 hover:underline"
            >
              <LegTexts legs={one.legs} />
            </Link>
            <StatusBadge status={one.status} />
            <span className="w-28 text-right text-xs text-quiet max-sm:hidden">
              <Time at={one.updated_at} form="relative" />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
