import type { Answer } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import { useAssets, useBalances, useProfiles } from '~/customer/data.ts';
import { ProfileSelect } from '~/customer/picks.tsx';
import { download } from '~/lib/csv.ts';
import { addAmounts, fractionOf } from '~/lib/money.ts';
import { counted, words } from '~/lib/words.ts';
import {
  Button,
  EmptyState,
  Field,
  Loading,
  Money,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  ScrollX,
  Select,
  TextInput,
  Time,
  toast,
} from '~/ui/index.ts';

type Statement = Answer<'getStatement'>;
type Period = { readonly id: string; readonly asset: string; readonly from: string; readonly to?: string };

const FORMATS = [
  ['CSV', 'text/csv', 'csv'],
  ['camt.053', 'application/xml', 'xml'],
  ['JSON', 'application/json', 'json'],
] as const;
/** Movements on the screen. The file has all of them. */
const SHOWN = 500;

const thisMonth = (): string => new Date().toISOString().slice(0, 7);

/** Months of the books are in UTC, as banks have it; a month that has not ended ends now. */
function periodOf(month: string): { from: string; to?: string } {
  const [year, number] = month.split('-').map(Number) as [number, number];
  const end = new Date(Date.UTC(year, number, 1));
  const from = new Date(Date.UTC(year, number - 1, 1)).toISOString();
  return end.getTime() > Date.now() ? { from } : { from, to: end.toISOString() };
}

export default function Statements() {
  const search = useScreenSearch<{ profile?: string; asset?: string; month?: string }>();
  const setSearch = useSetSearch();
  const profiles = useProfiles();
  const assets = useAssets();
  const profile = search.profile ?? profiles?.[0]?.id;
  const balances = useBalances(profile);
  const asset = search.asset ?? balances?.[0]?.asset ?? 'USD';
  const month = search.month ?? thisMonth();
  const choose = (changes: { profile?: string; asset?: string; month?: string }): void =>
    setSearch({ ...(profile !== undefined && { profile }), asset, month, ...changes });
  return (
    <>
      <PageHeader title="Statements" />
      <PageBody>
        <div className="grid max-w-3xl grid-cols-1 gap-3 sm:grid-cols-3">
          <Field label="Profile">
            {(wired) => (
              <ProfileSelect
                {...wired}
                value={profile ?? ''}
                onChange={(event) => choose({ profile: event.target.value })}
              />
            )}
          </Field>
          <Field label="Asset">
            {(wired) => (
              <Select
                {...wired}
                value={asset}
                onChange={(event) => choose({ asset: event.target.value })}
                options={(assets ?? [{ asset }]).map((one) => ({ value: one.asset, label: one.asset }))}
              />
            )}
          </Field>
          <Field label="Month (UTC)">
            {(wired) => (
              <TextInput
                {...wired}
                type="month"
                value={month}
                max={thisMonth()}
                onChange={(event) =>
                  /^\d{4}-\d{2}$/.test(event.target.value) && choose({ month: event.target.value })
                }
              />
            )}
          </Field>
        </div>
        {profile !== undefined && profile !== '' && (
          <OneStatement
            key={`${profile}${asset}${month}`}
            period={{ id: profile, asset, ...periodOf(month) }}
            month={month}
          />
        )}
      </PageBody>
    </>
  );
}

function OneStatement({ period, month }: { readonly period: Period; readonly month: string }) {
  const statement = useQuery({
    queryKey: ['statement', period],
    queryFn: () => ferry.getStatement(period),
    staleTime: 30_000,
  });
  return (
    <>
      <Downloads period={period} month={month} />
      {statement.error !== null && (
        <ProblemNotice error={statement.error} retry={() => void statement.refetch()} />
      )}
      {statement.data === undefined ? (
        statement.error === null && <Loading what="Loading the statement" />
      ) : (
        <Shown statement={statement.data} />
      )}
    </>
  );
}

function Downloads({ period, month }: { readonly period: Period; readonly month: string }) {
  const [busy, setBusy] = useState<string>();
  const [error, setError] = useState<unknown>();
  async function save([name, type, ending]: (typeof FORMATS)[number]): Promise<void> {
    setBusy(name);
    setError(undefined);
    try {
      const response = await ferry.open('getStatement', period, type);
      download(`statement-${month}-${period.asset}.${ending}`, type, [await response.text()]);
      toast(`Exported the statement of ${month}.`);
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(undefined);
    }
  }
  return (
    <>
      <div className="flex flex-wrap gap-2">
        {FORMATS.map((format) => (
          <Button
            key={format[0]}
            icon="download"
            variant={format[0] === 'CSV' ? 'primary' : 'secondary'}
            busy={busy === format[0]}
            onClick={() => void save(format)}
          >
            Export {format[0]}
          </Button>
        ))}
      </div>
      {error !== undefined && <ProblemNotice error={error} />}
    </>
  );
}

function Shown({ statement }: { readonly statement: Statement }) {
  const { opening, closing, movements, asset } = statement;
  const sum = (direction: string): string =>
    addAmounts('0', ...movements.filter((one) => one.direction === direction).map((one) => one.amount));
  const tiles = [
    ['Opening balance', opening.total],
    ['In', sum('CREDIT')],
    ['Out', sum('DEBIT')],
    ['Closing balance', closing.total],
  ] as const;
  return (
    <>
      <ul
        aria-label="Sums of the month"
        className="grid grid-cols-1 gap-px overflow-hidden rounded-xl border border-line bg-line sm:grid-cols-2 xl:grid-cols-4"
      >
        {tiles.map(([name, amount]) => (
          <li key={name} className="bg-panel px-4 py-3">
            <p className="eyebrow">{name}</p>
            <p className="font-semibold">
              <Money amount={amount} asset={asset} />
            </p>
          </li>
        ))}
      </ul>
      <Panel title={counted(movements.length, 'movement')} flush>
        {movements.length === 0 ? (
          <EmptyState icon="journal" title="Nothing moved in this month">
            Value that is put on hold for a withdrawal is still owned, and is not a movement.
          </EmptyState>
        ) : (
          <Movements statement={statement} />
        )}
      </Panel>
    </>
  );
}

function Movements({ statement: { movements } }: { readonly statement: Statement }) {
  const shown = movements.slice(0, SHOWN);
  const fraction = fractionOf(shown.flatMap((one) => [one.amount, one.balance_after]));
  return (
    <ScrollX label="Movements">
      <table className="w-full text-sm">
        <thead>
          <tr className="border-b border-line text-left">
            <th scope="col" className="eyebrow px-4 py-2">
              At
            </th>
            <th scope="col" className="eyebrow px-2 py-2">
              Cause
            </th>
            <th scope="col" className="eyebrow px-2 py-2 text-right">
              Amount
            </th>
            <th scope="col" className="eyebrow px-4 py-2 text-right max-sm:hidden">
              Balance after
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => (
            <tr key={`${one.at}${one.cause.id}`} className="border-b border-line/60 last:border-0">
              <td className="px-4 py-1.5">
                <Time at={one.at} form="short" />
              </td>
              <td className="px-2 py-1.5">
                {one.cause.type === 'TRANSFER' ? (
                  <Link to={`/transfers/${one.cause.id}`} className="hover:underline">
                    {words(one.cause.kind ?? 'TRANSFER')}
                  </Link>
                ) : (
                  words(one.cause.kind ?? one.cause.type)
                )}
                {one.cause.ref_id !== undefined && (
                  <span className="ml-2 text-xs text-quiet max-sm:hidden">{one.cause.ref_id}</span>
                )}
              </td>
              <td className="px-2 py-1.5 text-right">
                <Money amount={one.amount} direction={one.direction} fraction={fraction} />
              </td>
              <td className="px-4 py-1.5 text-right max-sm:hidden">
                <Money amount={one.balance_after} fraction={fraction} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {movements.length > SHOWN && (
        <p className="border-t border-line px-4 py-2 text-xs text-quiet">
          The first {SHOWN} are shown. The export has all {movements.length.toLocaleString('en')}.
        </p>
      )}
    </ScrollX>
  );
}
