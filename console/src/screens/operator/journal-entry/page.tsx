import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { useScreenParams } from '~/app/navigation.ts';
import { useMay } from '~/app/session.ts';
import { words } from '~/lib/words.ts';
import {
  Badge,
  Button,
  EmptyState,
  Facts,
  Id,
  Loading,
  Money,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  ScrollX,
  Time,
} from '~/ui/index.ts';
import type { JournalEntry } from '../journal/page.tsx';
import { ActDialog } from '../parts/acting.tsx';
import { ActorText } from '../parts/show.tsx';

const BACK = { to: '/operator/journal', label: 'Journal' };

export default function OneEntry() {
  const { id } = useScreenParams<{ id: string }>();
  const read = useQuery({ queryKey: ['journal-entry', id], queryFn: () => ferry.getJournalEntry({ id }) });
  if (read.error !== null)
    return (
      <>
        <PageHeader title="Journal entry" back={BACK} />
        <PageBody>
          <ProblemNotice error={read.error} retry={() => void read.refetch()} />
        </PageBody>
      </>
    );
  if (read.data === undefined) return <Loading what="Loading the journal entry" />;
  return <Details entry={read.data} />;
}

type Side = JournalEntry['postings'][number]['from'];
function SideName({
  side: { profile_id: profile, account, asset },
}: {
  readonly side: Side & { asset: string };
}) {
  if (profile !== undefined) return <Id id={profile} of="profile id" />;
  return (
    <Link
      to={`/operator/accounts/${encodeURIComponent(account ?? '')}?asset=${asset}`}
      className="text-accent hover:underline"
    >
      {account}
    </Link>
  );
}

function Details({ entry }: { readonly entry: JournalEntry }) {
  const [reverses, setReverses] = useState(false);
  const mayBook = useMay('operator:journal');
  const { id, kind, amount, asset, reversed_by: reversed, postings, transfer_id: transfer } = entry;
  const canReverse = mayBook && reversed === undefined && postings.length > 0 && kind !== 'REVERSAL';
  return (
    <>
      <PageHeader
        back={BACK}
        windowTitle={words(kind)}
        title={
          <>
            {words(kind)}{' '}
            {amount !== undefined && <Money amount={amount} {...(asset !== undefined && { asset })} />}
          </>
        }
        badge={reversed === undefined ? undefined : <Badge>Reversed</Badge>}
      >
        {canReverse && <Button onClick={() => setReverses(true)}>Reverse it</Button>}
      </PageHeader>
      <PageBody>
        <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
          <Panel title="Entry">
            <Facts
              facts={[
                { name: 'Why', value: entry.reason },
                { name: 'Evidence', value: <Id id={entry.reference} of="reference" whole /> },
                entry.note === undefined ? undefined : { name: 'Note for the customer', value: entry.note },
                { name: 'Booked', value: <Time at={entry.created_at} /> },
                { name: 'By', value: <ActorText text={entry.actor} /> },
                entry.outcome === undefined ? undefined : { name: 'Outcome', value: words(entry.outcome) },
                entry.rail === undefined ? undefined : { name: 'Rail', value: entry.rail },
                entry.account === undefined ? undefined : { name: 'Account', value: entry.account },
                transfer === undefined
                  ? undefined
                  : { name: 'Transfer', value: <Id id={transfer} of="transfer id" whole /> },
                entry.suspense_deposit_id === undefined
                  ? undefined
                  : {
                      name: 'Deposit in suspense',
                      value: (
                        <Link
                          to={`/operator/suspense?open=${entry.suspense_deposit_id}`}
                          className="break-all text-accent hover:underline"
                        >
                          {entry.suspense_deposit_id}
                        </Link>
                      ),
                    },
                entry.corrects === undefined
                  ? undefined
                  : {
                      name: 'Corrects',
                      value: (
                        <>
                          {words(entry.corrects.type)} <Id id={entry.corrects.id} whole />
                        </>
                      ),
                    },
                reversed === undefined
                  ? undefined
                  : {
                      name: 'Reversed by',
                      value: (
                        <Link
                          to={`/operator/journal/${reversed}`}
                          className="break-all text-accent hover:underline"
                        >
                          {reversed}
                        </Link>
                      ),
                    },
                { name: 'Reference (ref_id)', value: <Id id={entry.ref_id} of="ref_id" whole /> },
                { name: 'Entry', value: <Id id={id} of="journal entry id" whole /> },
              ]}
            />
          </Panel>
          <Panel title="Postings" flush>
            <Postings entry={entry} />
          </Panel>
        </div>
      </PageBody>
      <ActDialog
        open={reverses}
        onClose={() => setReverses(false)}
        title="Reverse the entry"
        description="Books the exact opposite of all its postings, once. Balances must allow it."
        action="Reverse it"
        danger
        fields={['reason', 'reference', 'note']}
        act={(given) =>
          ferry.bookJournalEntry({
            kind: 'REVERSAL',
            ref_id: `reversal-${id}`,
            corrects: { type: 'JOURNAL_ENTRY', id },
            ...given,
          })
        }
        done="Reversed."
      />
    </>
  );
}

function Postings({ entry: { postings, transfer_id: transfer } }: { readonly entry: JournalEntry }) {
  if (postings.length === 0)
    return (
      <EmptyState icon="journal" title="No postings of its own">
        {transfer === undefined
          ? 'It moved no value.'
          : 'The transfer that it made or ended has moved the value.'}
      </EmptyState>
    );
  return (
    <ScrollX label="Postings">
      <table className="w-full text-sm">
        <thead>
          <tr className="border-b border-line text-left">
            {['From', 'To', 'Amount'].map((name) => (
              <th key={name} scope="col" className="eyebrow px-4 py-2 last:text-right">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {postings.map((one) => (
            <tr key={JSON.stringify(one)} className="border-b border-line/60 last:border-0">
              <td className="px-4 py-2">
                <SideName side={{ ...one.from, asset: one.asset }} />
              </td>
              <td className="px-4 py-2">
                <SideName side={{ ...one.to, asset: one.asset }} />
              </td>
              <td className="px-4 py-2 text-right">
                <Money amount={(one.amount ?? one.amount_units)!} asset={one.asset} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollX>
  );
}
