import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { useMay } from '~/app/session.ts';
import { formatAmount } from '~/lib/money.ts';
import {
  Button,
  Drawer,
  Facts,
  Field,
  fieldProblem,
  Id,
  Loading,
  Money,
  ProblemNotice,
  StatusBadge,
  TextInput,
  Time,
} from '~/ui/index.ts';
import { ActDialog } from '../parts/acting.tsx';
import { type SuspenseDeposit, statusOf } from './page.tsx';

/** One deposit beside the list. Its id is in the address. */
export function DepositDrawer({
  id,
  onClose,
}: {
  readonly id: string | undefined;
  readonly onClose: () => void;
}) {
  const read = useQuery({
    queryKey: ['suspense-deposit', id],
    queryFn: async () => (await ferry.listSuspenseDeposits({ ids: [id!] })).items[0] ?? null,
    enabled: id !== undefined,
  });
  const [act, setAct] = useState<'credit' | 'return'>();
  const mayBook = useMay('operator:journal');
  const deposit = read.data;
  const isOpen = deposit != null && statusOf(deposit) === 'OPEN';
  return (
    <>
      <Drawer
        open={id !== undefined && act === undefined}
        onClose={onClose}
        title="Deposit in suspense"
        footer={
          mayBook && isOpen ? (
            <>
              <Button onClick={() => setAct('return')}>It was returned</Button>
              <Button variant="primary" onClick={() => setAct('credit')}>
                Credit a profile
              </Button>
            </>
          ) : undefined
        }
      >
        {read.error !== null && <ProblemNotice error={read.error} retry={() => void read.refetch()} />}
        {deposit === undefined && read.error === null && <Loading />}
        {deposit === null && <p className="text-sm">There is no deposit with this id.</p>}
        {deposit != null && <DepositFacts deposit={deposit} />}
      </Drawer>
      {deposit != null && (
        <Credit deposit={deposit} open={act === 'credit'} onClose={() => setAct(undefined)} />
      )}
      {deposit != null && (
        <Return deposit={deposit} open={act === 'return'} onClose={() => setAct(undefined)} />
      )}
    </>
  );
}

function DepositFacts({ deposit }: { readonly deposit: SuspenseDeposit }) {
  const { amount, amount_units: units, asset, transfer_id: transfer, returned_by: returned } = deposit;
  return (
    <Facts
      facts={[
        { name: 'Amount', value: <Money amount={amount ?? units} asset={asset} className="font-medium" /> },
        { name: 'Status', value: <StatusBadge status={statusOf(deposit)} /> },
        { name: 'Why', value: deposit.reason },
        { name: 'Rail', value: deposit.rail },
        { name: 'Sent to', value: <Id id={deposit.sent_to} of="address or memo" whole /> },
        { name: 'Reference', value: <Id id={deposit.reference} of="reference" whole /> },
        deposit.account === undefined ? undefined : { name: 'Our account', value: deposit.account },
        { name: 'Deposit', value: <Id id={deposit.id} of="deposit id" whole /> },
        { name: 'Recorded', value: <Time at={deposit.created_at} /> },
        transfer === undefined
          ? undefined
          : { name: 'Credited by transfer', value: <Id id={transfer} of="transfer id" whole /> },
        returned === undefined
          ? undefined
          : {
              name: 'Returned by',
              value: (
                <Link to={`/operator/journal/${returned}`} className="text-accent hover:underline">
                  journal entry {returned}
                </Link>
              ),
            },
      ]}
    />
  );
}

type ActProps = {
  readonly deposit: SuspenseDeposit;
  readonly open: boolean;
  readonly onClose: () => void;
};

const moneyOf = ({ amount, amount_units: units, asset }: SuspenseDeposit): string =>
  `${formatAmount(amount ?? units)} ${asset}`;

function Credit({ deposit, open, onClose }: ActProps) {
  const [profile, setProfile] = useState('');
  const [error, setError] = useState<unknown>();
  const id = profile.trim();
  return (
    <ActDialog
      open={open}
      onClose={onClose}
      title="Credit the deposit"
      description={`${moneyOf(deposit)} leave suspense and become available on the profile. Its owner gets an event, as for every deposit.`}
      action={`Credit ${moneyOf(deposit)}`}
      fields={['reason', 'reference', 'note']}
      isReady={id !== ''}
      act={({ reason, reference, note }) =>
        ferry
          .creditSuspenseDeposit({
            id: deposit.id,
            profile_id: id,
            reason,
            reference,
            ...(note !== undefined && { note }),
          })
          .catch((thrown: unknown) => {
            setError(thrown);
            throw thrown;
          })
      }
      done={`Credited ${moneyOf(deposit)}.`}
    >
      <Field
        label="Profile"
        hint="The id of the profile, of any customer. Search finds it by name or reference."
        error={fieldProblem(error, '/profile_id')}
      >
        {(wired) => (
          <TextInput
            {...wired}
            className="font-mono"
            value={profile}
            onChange={(event) => setProfile(event.target.value)}
          />
        )}
      </Field>
    </ActDialog>
  );
}

function Return({ deposit, open, onClose }: ActProps) {
  return (
    <ActDialog
      open={open}
      onClose={onClose}
      title="It was returned to its sender"
      description={`Books that ${moneyOf(deposit)} have gone back over the ${deposit.rail} rail. Nothing is sent: return the money first.`}
      action="Book the return"
      fields={['reason', 'reference']}
      act={({ reason, reference }) =>
        ferry.bookJournalEntry({
          kind: 'SUSPENSE_RETURN',
          ref_id: `suspense-return-${deposit.id}`,
          suspense_deposit_id: deposit.id,
          reason,
          reference,
        })
      }
      done="The return is booked."
    />
  );
}
