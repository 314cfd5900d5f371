import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { useMay } from '~/app/session.ts';
import { fractionOf } from '~/lib/money.ts';
import { counted, words } from '~/lib/words.ts';
import {
  EmptyState,
  Icon,
  LinkButton,
  Loading,
  Money,
  Panel,
  ProblemNotice,
  Sentence,
  StatusBadge,
  Time,
} from '~/ui/index.ts';

const SHOWN = 8;
const AGAIN_MS = 5_000;
/** Beyond it, "99 or more". */
const COUNTED = 99;

/** Everything that waits: transfers with the reason, offers to affirm, requests to approve. */
export function Pending() {
  const pending = useQuery({
    queryKey: ['transfers', 'pending'],
    queryFn: () => ferry.listTransfers({ statuses: ['PENDING'], limit: SHOWN }),
    refetchInterval: AGAIN_MS,
  });
  return (
    <Panel
      title="Pending, and why"
      flush
      action={
        <LinkButton to="/transfers?statuses=PENDING" variant="ghost">
          All
        </LinkButton>
      }
    >
      {pending.error !== null && (
        <div className="p-4">
          <ProblemNotice error={pending.error} />
        </div>
      )}
      <WaitingForPeople />
      {pending.data === undefined && pending.error === null && <Loading />}
      {pending.data?.items.length === 0 && (
        <EmptyState icon="check" title="No transfer is pending">
          Withdrawals that a bank or a network has not confirmed yet appear here, with what they wait for.
        </EmptyState>
      )}
      <ul>
        {pending.data?.items.map((one) => (
          <li
            key={one.id}
            className="relative border-b border-line/60 px-4 py-2.5 text-sm last:border-0 hover:bg-hover"
          >
            <p className="flex items-baseline justify-between gap-3">
              <Link
                to={`/transfers/${one.id}`}
                className="truncate font-medium after:absolute after:inset-0 hover:underline"
              >
                {words(one.type)}
              </Link>
              <Money amount={one.amount} asset={one.asset} direction={one.direction} />
            </p>
            <p className="flex justify-between gap-3 text-xs text-quiet">
              <span>
                <Sentence text={one.secondary_status?.detail ?? 'In progress.'} />
              </span>
              <Time at={one.created_at} form="relative" />
            </p>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** What one of the own people can decide now. */
function WaitingForPeople() {
  const [maySettle, mayApprove] = [useMay('settlement:read_transaction'), useMay('control:read_approval')];
  const offers = useQuery({
    queryKey: ['settlements', 'count'],
    queryFn: async () => {
      const [{ items }, profiles] = await Promise.all([
        ferry.listSettlementTransactions({ statuses: ['PENDING'], limit: COUNTED }),
        ferry.listProfiles({ limit: 1_000 }),
      ]);
      const own = new Set(profiles.items.map(({ id }) => id));
      return items.filter((one) => own.has(one.target_profile_id)).length;
    },
    enabled: maySettle,
  }).data;
  const requests = useQuery({
    queryKey: ['approvals', 'count'],
    queryFn: async () => (await ferry.listApprovals({ statuses: ['PENDING'], limit: COUNTED })).items.length,
    enabled: mayApprove,
  }).data;
  const lines = [
    ...(offers === undefined || offers === 0
      ? []
      : [[`${counted(offers, 'settlement offer')} to affirm`, '/settlements', 'settlement'] as const]),
    ...(requests === undefined || requests === 0
      ? []
      : [[`${counted(requests, 'request')} to approve`, '/approvals', 'shield'] as const]),
  ];
  return lines.map(([text, to, icon]) => (
    <p key={to} className="border-b border-line bg-warn-soft px-4 py-2 text-sm">
      <Link to={to} className="flex items-center gap-2 font-medium text-warn hover:underline">
        <Icon name={icon} />
        {text}
      </Link>
    </p>
  ));
}

export function Recent() {
  const recent = useQuery({
    queryKey: ['transfers', 'recent'],
    queryFn: async () => (await ferry.listTransfers({ limit: SHOWN })).items,
    refetchInterval: AGAIN_MS,
  });
  const fraction = fractionOf((recent.data ?? []).map(({ amount }) => amount));
  return (
    <Panel
      title="Recent transfers"
      flush
      action={
        <LinkButton to="/transfers" variant="ghost">
          All
        </LinkButton>
      }
    >
      {recent.error !== null && (
        <div className="p-4">
          <ProblemNotice error={recent.error} />
        </div>
      )}
      {recent.data === undefined && recent.error === null && <Loading />}
      {recent.data?.length === 0 && (
        <EmptyState icon="transfers" title="No transfers yet">
          Deposits, withdrawals and transfers between profiles appear here.
        </EmptyState>
      )}
      <ul>
        {recent.data?.map((one) => (
          <li
            key={one.id}
            className="relative flex items-center gap-3 border-b border-line/60 px-4 py-2 text-sm last:border-0 hover:bg-hover"
          >
            <span className="min-w-0 flex-1">
              <Link
                to={`/transfers/${one.id}`}
                className="block truncate after:absolute after:inset-0 hover:underline"
              >
                {words(one.type)}
              </Link>
              <span className="text-xs text-quiet">
                <Time at={one.created_at} form="relative" />
              </span>
            </span>
            <span className="w-24 max-sm:hidden">
              <StatusBadge status={one.status} />
            </span>
            <span className="text-right sm:min-w-44">
              <Money amount={one.amount} direction={one.direction} fraction={fraction} />
              <span className="ml-2 inline-block w-10 text-left text-xs text-quiet">{one.asset}</span>
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
