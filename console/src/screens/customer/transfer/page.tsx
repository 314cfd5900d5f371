import type { Answer } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { useScreenParams } from '~/app/navigation.ts';
import { useMay } from '~/app/session.ts';
import { fractionOf } from '~/lib/money.ts';
import { words } from '~/lib/words.ts';
import {
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
  Sentence,
  StatusBadge,
  Time,
  Timeline,
} from '~/ui/index.ts';
import { HeldActions } from '../approvals/held-actions.tsx';
import type { Transfer } from '../transfers/page.tsx';
import { type History, isOf, itemsOf } from './timeline.tsx';

const PENDING_AGAIN_MS = 2_000;
type Entries = Answer<'listProfileEntries'>['items'];

/** Changes from the audit log, and what was sent to webhooks about them, if the reader may see webhooks. */
async function readHistory(id: string, seesWebhooks: boolean): Promise<History> {
  const { items: log } = await ferry.listAuditLog({ resource_ids: [id], limit: 100 });
  const events = log.map((one) => one.id);
  const webhooks = events.length === 0 || !seesWebhooks ? [] : (await ferry.listWebhooks({})).items;
  const deliveries = await Promise.all(
    webhooks.map(
      async (hook) => (await ferry.listWebhookDeliveries({ id: hook.id, event_ids: events })).items,
    ),
  );
  return { log, deliveries: deliveries.flat() };
}

/**
 * The postings that the transfer caused. Value moves when it is created and when it ends, so the entries right after the one
 * and right before the other are read, however many others the profile has in between.
 */
async function readEntries(transfer: Transfer): Promise<Entries> {
  const { profile_id: id, asset, balance_asset: balanceAsset, created_at: from, updated_at: to } = transfer;
  const common = { id, asset: balanceAsset ?? asset, limit: 200, 'created_at.gte': from };
  const [first, last] = await Promise.all([
    ferry.listProfileEntries({ ...common, order: 'ASC' }),
    ferry.listProfileEntries({ ...common, 'created_at.lte': to, order: 'DESC' }),
  ]);
  const keyOf = ({ at, account, amount, balance_after: after }: Entries[number]): string =>
    [at, account, amount, after].join(' ');
  const found = [...first.items, ...last.items.toReversed()].filter(isOf(transfer));
  return [...new Map(found.map((one) => [keyOf(one), one])).values()].sort((left, right) =>
    left.at < right.at ? -1 : 1,
  );
}

export default function OneTransfer() {
  const { id } = useScreenParams<{ id: string }>();
  const transfer = useQuery({
    queryKey: ['transfer', id],
    queryFn: () => ferry.getTransfer({ id }),
    refetchInterval: ({ state }) => (state.data?.status === 'PENDING' ? PENDING_AGAIN_MS : false),
  });
  if (transfer.error !== null)
    return (
      <PageBody>
        <PageHeader title="Transfer" back={{ to: '/transfers', label: 'Transfers' }} />
        <ProblemNotice error={transfer.error} retry={() => void transfer.refetch()} />
      </PageBody>
    );
  if (transfer.data === undefined) return <Loading what="Loading the transfer" />;
  return <Details transfer={transfer.data} />;
}

function Details({ transfer }: { readonly transfer: Transfer }) {
  const { id, type, status, amount, asset, direction, updated_at: updated } = transfer;
  const seesWebhooks = useMay('events:read_event');
  const history = useQuery({
    queryKey: ['transfer-history', id, updated],
    queryFn: () => readHistory(id, seesWebhooks),
  });
  const entries = useQuery({
    queryKey: ['transfer-entries', id, updated],
    queryFn: () => readEntries(transfer),
  });
  return (
    <>
      <PageHeader
        back={{ to: '/transfers', label: 'Transfers' }}
        windowTitle={`${words(type)} of ${amount} ${asset}`}
        title={
          <>
            {words(type)} <Money amount={amount} asset={asset} direction={direction} className="ml-1" />
          </>
        }
        badge={<StatusBadge status={status} />}
      >
        <HeldActions transfer={transfer} />
      </PageHeader>
      <PageBody>
        {transfer.secondary_status !== undefined && (
          <p className="rounded-lg border border-line bg-panel px-4 py-3 text-sm">
            <Sentence text={transfer.secondary_status.detail} />
          </p>
        )}
        <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
          <Panel title="Timeline">
            {history.error !== null && (
              <ProblemNotice error={history.error} retry={() => void history.refetch()} />
            )}
            {history.data === undefined ? (
              history.error === null && <Loading />
            ) : (
              <Timeline items={itemsOf(history.data)} />
            )}
          </Panel>
          <div className="flex min-w-0 flex-col gap-4">
            <Panel title="Details">
              <TransferFacts transfer={transfer} />
            </Panel>
            <Panel title="Postings" flush>
              {entries.error !== null && (
                <div className="p-4">
                  <ProblemNotice error={entries.error} />
                </div>
              )}
              {entries.data === undefined ? (
                entries.error === null && <Loading />
              ) : (
                <Postings entries={entries.data} />
              )}
            </Panel>
          </div>
        </div>
      </PageBody>
    </>
  );
}

function TransferFacts({ transfer }: { readonly transfer: Transfer }) {
  const { asset, fee, total, notional_value: notional, group_id: group } = transfer;
  const idFact = (name: string, id: string | undefined, of: string) =>
    id === undefined ? undefined : { name, value: <Id id={id} of={of} whole /> };
  return (
    <Facts
      facts={[
        idFact('Transfer', transfer.id, 'transfer id'),
        { name: 'Fee', value: <Money amount={fee} asset={asset} /> },
        { name: 'Total', value: <Money amount={total} asset={asset} /> },
        notional === undefined
          ? undefined
          : { name: 'Value', value: <Money amount={notional} asset="USD" /> },
        idFact('Reference', transfer.ref_id, 'ref_id'),
        idFact('Profile', transfer.profile_id, 'profile id'),
        idFact('Fiat account', transfer.fiat_account_id, 'fiat account id'),
        idFact('Account', transfer.account_id, 'account id'),
        idFact('Identity', transfer.identity_id, 'identity id'),
        transfer.crypto_network === undefined
          ? undefined
          : { name: 'Network', value: words(transfer.crypto_network) },
        idFact('Destination', transfer.destination_address, 'address'),
        idFact('Transaction', transfer.crypto_tx_hash, 'transaction hash'),
        transfer.memo === undefined ? undefined : { name: 'Memo', value: transfer.memo },
        group === undefined
          ? undefined
          : {
              name: 'Other side',
              value: (
                <Link to={`/transfers?group_ids=${group}`} className="text-accent hover:underline">
                  Transfers of the group
                </Link>
              ),
            },
        ...Object.entries(transfer.metadata ?? {}).map(([name, value]) => ({
          name: `metadata.${name}`,
          value,
        })),
        { name: 'Created', value: <Time at={transfer.created_at} /> },
        { name: 'Updated', value: <Time at={transfer.updated_at} /> },
      ]}
    />
  );
}

function Postings({ entries }: { readonly entries: Entries }) {
  if (entries.length === 0)
    return (
      <EmptyState icon="journal" title="No postings">
        The transfer has not changed the balance of this profile.
      </EmptyState>
    );
  const fraction = fractionOf(entries.flatMap((one) => [one.amount, one.balance_after]));
  return (
    <ScrollX label="Postings">
      <table className="w-full text-sm">
        <thead className="text-left">
          <tr className="border-b border-line">
            <th scope="col" className="eyebrow px-4 py-2">
              Account
            </th>
            <th scope="col" className="eyebrow px-2 py-2 text-right">
              Amount
            </th>
            <th scope="col" className="eyebrow px-2 py-2 text-right">
              Balance after
            </th>
            <th scope="col" className="eyebrow px-4 py-2 text-right">
              At
            </th>
          </tr>
        </thead>
        <tbody>
          {entries.map((one) => (
            <tr
              key={`${one.at}${one.account}${one.direction}`}
              className="border-b border-line/60 last:border-0"
            >
              <td className="px-4 py-2">{words(one.account)}</td>
              <td className="px-2 py-2 text-right">
                <Money amount={one.amount} direction={one.direction} fraction={fraction} />
              </td>
              <td className="px-2 py-2 text-right">
                <Money amount={one.balance_after} fraction={fraction} />
              </td>
              <td className="px-4 py-2 text-right">
                <Time at={one.at} form="short" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollX>
  );
}
