import type { Answer } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import { words } from '~/lib/words.ts';
import {
  Button,
  EmptyState,
  Field,
  Id,
  Loading,
  Money,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  StatusBadge,
  TextInput,
  Time,
} from '~/ui/index.ts';

type Hit = Answer<'searchEverything'>['items'][number];

/** Where a thing is looked at: screens of the operator, or those of its customer. */
function linkOf({ type, id, customer_id: customer, label }: Hit): string | undefined {
  switch (type) {
    case 'TRANSFER':
      return label.endsWith('_WITHDRAWAL')
        ? `/operator/withdrawals/${id}`
        : `/transfers/${id}?customer=${customer ?? ''}`;
    case 'CUSTOMER':
      return `/transfers?customer=${id}`;
    case 'PROFILE':
      return `/transfers?profile_ids=${id}&customer=${customer ?? ''}`;
    case 'JOURNAL_ENTRY':
      return `/operator/journal/${id}`;
    case 'SUSPENSE_DEPOSIT':
      return `/operator/suspense?open=${id}`;
    case 'APPROVAL':
      return `/operator/approvals/${id}`;
    case 'FREEZE':
      return `/operator/freezes?open=${id}`;
    case 'POLICY':
      return `/operator/policies/${id}`;
    case 'FIAT_ACCOUNT':
      return `/operator/reviews?open=${id}`;
    default:
      return `/operator/audit-log?resource_ids=${id}`;
  }
}

const MATCHES: Readonly<Record<Hit['matched'], string>> = {
  ID: 'id',
  REF_ID: 'ref_id',
  HASH: 'transaction or reference',
  ADDRESS: 'deposit address',
  NAME: 'name',
  AMOUNT: 'amount',
};

export default function Search() {
  const { text = '' } = useScreenSearch<{ text?: string }>();
  const setSearch = useSetSearch();
  const read = useQuery({
    queryKey: ['search', text],
    queryFn: () => ferry.searchEverything({ text }),
    enabled: text.length >= 2,
  });
  return (
    <>
      <PageHeader title="Search" />
      <PageBody>
        <SearchForm
          key={text}
          text={text}
          onSearch={(next) => setSearch(next === '' ? {} : { text: next })}
        />
        {read.error !== null && <ProblemNotice error={read.error} retry={() => void read.refetch()} />}
        {read.isFetching && read.data === undefined && <Loading what="Searching" />}
        {text === '' && (
          <EmptyState icon="search" title="Find anything of any customer">
            By id, ref_id, transaction hash, deposit address or amount, such as “1250 USD”; customers by a
            part of their name. Texts must be whole. Amounts are looked for among the latest transfers.
          </EmptyState>
        )}
        {read.data !== undefined && <Hits found={read.data} text={text} />}
      </PageBody>
    </>
  );
}

function SearchForm({
  text,
  onSearch,
}: {
  readonly text: string;
  readonly onSearch: (text: string) => void;
}) {
  const [typed, setTyped] = useState(text);
  return (
    <form
      role="search"
      className="flex max-w-2xl items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(typed.trim());
      }}
    >
      <Field label="Id, reference, hash, address, name or amount" className="flex-1">
        {(wired) => (
          <TextInput
            {...wired}
            type="search"
            value={typed}
            maxLength={200}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" variant="primary" icon="search">
        Search
      </Button>
    </form>
  );
}

function Hits({
  found: { items, complete },
  text,
}: {
  readonly found: Answer<'searchEverything'>;
  readonly text: string;
}) {
  if (items.length === 0)
    return (
      <EmptyState icon="search" title={`Nothing is “${text}”`}>
        Ids, references and hashes must be whole. An amount needs all its digits.
      </EmptyState>
    );
  return (
    <Panel flush>
      <ul>
        {items.map((hit) => (
          <li
            key={`${hit.type}${hit.id}`}
            className="relative flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line/60 px-4 py-2.5 text-sm last:border-0 hover:bg-hover"
          >
            <Link
              to={linkOf(hit) ?? '/operator'}
              className="min-w-0 font-medium after:absolute after:inset-0 hover:underline"
            >
              {hit.type === 'TRANSFER' || hit.type === 'JOURNAL_ENTRY'
                ? words(hit.label)
                : `${words(hit.type)}: ${hit.label}`}
            </Link>
            {hit.amount !== undefined && (
              <Money amount={hit.amount} {...(hit.asset !== undefined && { asset: hit.asset })} />
            )}
            {hit.status !== undefined && <StatusBadge status={hit.status} />}
            <span className="relative z-1 ml-auto flex items-center gap-3 text-xs text-quiet">
              <span>by {MATCHES[hit.matched]}</span>
              <Id id={hit.id} />
              <Time at={hit.created_at} form="short" />
            </span>
          </li>
        ))}
      </ul>
      {!complete && (
        <p className="border-t border-line px-4 py-2 text-xs text-quiet">
          There may be more: amounts are looked for among the latest transfers only, and at most 50 are shown.
        </p>
      )}
    </Panel>
  );
}
