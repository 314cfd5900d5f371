import type { Answer } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { compareAmounts } from '~/lib/money.ts';
import { counted } from '~/lib/words.ts';
import {
  Badge,
  EmptyState,
  IconButton,
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
import { Picture } from './picture.tsx';

export type Network = Answer<'getSettlementNetwork'>;
export type Obligation = Network['obligations'][number];
type SettledSet = Network['settled_together'][number];

const AGAIN_MS = 10_000;

export default function SettlementNetwork() {
  const read = useQuery({
    queryKey: ['settlement-network'],
    queryFn: () => ferry.getSettlementNetwork({}),
    refetchInterval: AGAIN_MS,
  });
  const { data } = read;
  return (
    <>
      <PageHeader title="Settlement network">
        <IconButton label="Read again" icon="refresh" onClick={() => void read.refetch()} />
      </PageHeader>
      <PageBody>
        {read.error !== null && <ProblemNotice error={read.error} retry={() => void read.refetch()} />}
        {data === undefined && read.error === null && <Loading />}
        {data !== undefined && (
          <>
            <Debts network={data} />
            <Resolved sets={data.settled_together} />
          </>
        )}
      </PageBody>
    </>
  );
}

function Debts({ network: { obligations, complete } }: { readonly network: Network }) {
  return (
    <Panel title="Who owes whom, of what is affirmed">
      {obligations.length === 0 ? (
        <EmptyState icon="settlement" title="Nobody owes anything">
          When both parties have agreed to a settlement transaction, what they owe each other is here until it
          settles.
        </EmptyState>
      ) : (
        <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-2">
          <Picture obligations={obligations} />
          <ScrollX label="Obligations">
            <table className="w-full text-sm">
              <caption className="sr-only">Net obligations per pair of profiles and asset</caption>
              <thead>
                <tr className="border-b border-line text-left">
                  {['Owes', 'To', 'Amount'].map((name, index) => (
                    <th
                      key={name}
                      scope="col"
                      className={`eyebrow py-1.5 ${index === 2 ? 'text-right' : 'pr-4'}`}
                    >
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {obligations.map((one) => (
                  <tr
                    key={`${one.from_profile_id}${one.to_profile_id}${one.asset}`}
                    className="border-b border-line/60 last:border-0"
                  >
                    <td className="py-1.5 pr-4">
                      <Party profile={one.from_profile_id} customer={one.from_customer_id} />
                    </td>
                    <td className="py-1.5 pr-4">
                      <Party profile={one.to_profile_id} customer={one.to_customer_id} />
                    </td>
                    <td
                      className="py-1.5 text-right"
                      title={counted(one.transactions, 'transaction', 'transactions')}
                    >
                      <Money amount={one.amount} asset={one.asset} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollX>
        </div>
      )}
      {!complete && (
        <p className="mt-3 text-xs text-quiet">
          There are more open transactions: those whose window ends last are not counted here.
        </p>
      )}
    </Panel>
  );
}

const Party = ({ profile, customer }: { readonly profile: string; readonly customer: string }) => (
  <Link to={`/profiles/${profile}?customer=${customer}`} className="font-mono text-xs hover:underline">
    …{profile.slice(-8)}
  </Link>
);

/** Less had to be there than was paid: that is what netting resolved. */
const isGridlock = ({ assets }: SettledSet): boolean =>
  assets.some(({ gross, net }) => compareAmounts(net, gross) < 0);

function Resolved({ sets }: { readonly sets: readonly SettledSet[] }) {
  return (
    <Panel title="Settled together">
      {sets.length === 0 ? (
        <p className="text-sm text-quiet">
          When transactions wait for each other, such as in a ring where nobody has the money first, the
          engine settles them in one commit. Such sets appear here.
        </p>
      ) : (
        <ul className="flex flex-col divide-y divide-line/60">
          {sets.map((set) => (
            <li
              key={set.transaction_ids[0]}
              className="flex flex-wrap items-start gap-x-6 gap-y-1 py-2.5 text-sm"
            >
              <span className="flex w-44 flex-col items-start gap-1">
                <Time at={set.settled_at} form="short" />
                {isGridlock(set) && <Badge tone="good">Gridlock resolved</Badge>}
              </span>
              <span className="min-w-40 flex-1">
                {counted(set.transaction_ids.length, 'transaction', 'transactions')} of{' '}
                {counted(set.profile_ids.length, 'profile', 'profiles')}
                <span className="mt-1 flex flex-wrap gap-x-3 gap-y-2 text-xs">
                  {set.transaction_ids.slice(0, 6).map((id) => (
                    <Id key={id} id={id} of="transaction id" />
                  ))}
                </span>
              </span>
              <ul className="sm:text-right">
                {set.assets.map(({ asset, gross, net }) => (
                  <li key={asset}>
                    <Money amount={gross} asset={asset} className="font-medium" />
                    <span className="block text-xs text-quiet">
                      with <Money amount={net} asset={asset} /> in hand
                    </span>
                  </li>
                ))}
              </ul>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
