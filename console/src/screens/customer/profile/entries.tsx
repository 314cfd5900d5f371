import type { components } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { fractionOf } from '~/lib/money.ts';
import { words } from '~/lib/words.ts';
import { EmptyState, LinkButton, Loading, Money, Panel, ProblemNotice, ScrollX, Time } from '~/ui/index.ts';

type Entry = components['schemas']['Entry'];
const SHOWN = 25;

function causeLink({ cause }: Entry): string | undefined {
  if (cause.type === 'TRANSFER') return `/transfers/${cause.id}`;
  return cause.type === 'SETTLEMENT' ? `/settlements/${cause.id}` : undefined;
}

/** The latest changes of the balance, each with what caused it. */
export function Entries({ profileId, asset }: { readonly profileId: string; readonly asset: string }) {
  const entries = useQuery({
    queryKey: ['entries', profileId, asset],
    queryFn: async () => (await ferry.listProfileEntries({ id: profileId, asset, limit: SHOWN })).items,
  });
  return (
    <Panel
      title={`Latest entries in ${asset}`}
      flush
      action={
        <LinkButton to={`/statements?profile=${profileId}&asset=${asset}`} variant="ghost">
          By month
        </LinkButton>
      }
    >
      {entries.error !== null && (
        <div className="p-4">
          <ProblemNotice error={entries.error} />
        </div>
      )}
      {entries.data === undefined ? (
        entries.error === null && <Loading />
      ) : entries.data.length === 0 ? (
        <EmptyState icon="journal" title="No entries">
          Every change of what is available or held is an entry.
        </EmptyState>
      ) : (
        <Table entries={entries.data} />
      )}
    </Panel>
  );
}

function Table({ entries }: { readonly entries: readonly Entry[] }) {
  const fraction = fractionOf(entries.flatMap((one) => [one.amount, one.balance_after]));
  return (
    <ScrollX label="Latest entries">
      <table className="w-full text-sm">
        <thead>
          <tr className="border-b border-line text-left">
            <th scope="col" className="eyebrow px-4 py-2">
              Cause
            </th>
            <th scope="col" className="eyebrow px-2 py-2 max-sm:hidden">
              Account
            </th>
            <th scope="col" className="eyebrow px-2 py-2 text-right">
              Amount
            </th>
            <th scope="col" className="eyebrow px-2 py-2 text-right max-sm:hidden">
              Balance after
            </th>
            <th scope="col" className="eyebrow px-4 py-2 text-right">
              At
            </th>
          </tr>
        </thead>
        <tbody>
          {entries.map((one) => {
            const to = causeLink(one);
            const text = words(one.cause.kind ?? one.cause.type);
            return (
              <tr
                key={`${one.at}${one.account}${one.direction}`}
                className="border-b border-line/60 last:border-0"
              >
                <td className="px-4 py-1.5">
                  {to === undefined ? (
                    text
                  ) : (
                    <Link to={to} className="hover:underline">
                      {text}
                    </Link>
                  )}
                </td>
                <td className="px-2 py-1.5 text-quiet max-sm:hidden">{one.account}</td>
                <td className="px-2 py-1.5 text-right">
                  <Money amount={one.amount} direction={one.direction} fraction={fraction} />
                </td>
                <td className="px-2 py-1.5 text-right max-sm:hidden">
                  <Money amount={one.balance_after} fraction={fraction} />
                </td>
                <td className="px-4 py-1.5 text-right">
                  <Time at={one.at} form="short" />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </ScrollX>
  );
}
