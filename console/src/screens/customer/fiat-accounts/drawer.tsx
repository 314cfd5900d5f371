import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { IS_SANDBOX } from '~/app/base.ts';
import { useMay } from '~/app/session.ts';
import { ChangeLog } from '~/customer/change-log.tsx';
import { destinationOf, type FiatAccount, ownerOf } from '~/customer/data.ts';
import { words } from '~/lib/words.ts';
import {
  Button,
  ConfirmDialog,
  Drawer,
  Facts,
  Id,
  LinkButton,
  Loading,
  ProblemNotice,
  StatusBadge,
  Time,
  toast,
} from '~/ui/index.ts';

const WHY = {
  PENDING: 'Under review. Withdrawals to it wait until it is approved.',
  APPROVED: 'Approved. Withdrawals to it are paid.',
  REJECTED: 'Rejected. Nothing can be paid to it; register another one, or correct it over the API.',
} as const;

export function AccountDrawer({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const account = useQuery({
    queryKey: ['fiat-accounts', 'one', id],
    queryFn: () => ferry.getFiatAccount({ id }),
    refetchInterval: ({ state }) => (state.data?.status === 'PENDING' ? 2_000 : false),
  });
  return (
    <Drawer
      open
      onClose={onClose}
      title={account.data === undefined ? 'Fiat account' : ownerOf(account.data) || 'Fiat account'}
      description={account.data && <StatusBadge status={account.data.status} />}
      footer={account.data && <Actions account={account.data} onClose={onClose} />}
    >
      {account.error !== null && <ProblemNotice error={account.error} />}
      {account.data === undefined ? (
        account.error === null && <Loading />
      ) : (
        <Details account={account.data} />
      )}
    </Drawer>
  );
}

function Details({ account }: { readonly account: FiatAccount }) {
  const { kind, number } = destinationOf(account);
  const { wire } = account.fiat_network_instructions;
  const routing = wire?.routing_details;
  return (
    <div className="flex flex-col gap-5">
      <p className="text-sm text-quiet">{WHY[account.status]}</p>
      <Facts
        facts={[
          { name: 'Rail', value: words(kind) },
          { name: 'Number', value: <span className="font-mono">{number}</span> },
          routing && {
            name: routing.routing_number_type,
            value: <span className="font-mono">{routing.routing_number}</span>,
          },
          routing && { name: 'Bank', value: `${routing.bank_name}, ${routing.bank_address.country}` },
          { name: 'Fiat account', value: <Id id={account.id} of="fiat account id" whole /> },
          account.identity_id === undefined
            ? undefined
            : { name: 'Identity', value: <Id id={account.identity_id} of="identity id" whole /> },
          account.account_id === undefined
            ? undefined
            : { name: 'Account', value: <Id id={account.account_id} of="account id" whole /> },
          { name: 'Registered', value: <Time at={account.created_at} /> },
          ...(account.transliterations ?? []).map(({ pointer, sent_as: sent }) => ({
            name: `Spelled in payments`,
            value: `${sent} (${pointer.split('/').at(-1)})`,
          })),
        ]}
      />
      <section>
        <h3 className="mb-2 text-sm font-semibold">History</h3>
        <ChangeLog resourceId={account.id} {...(account.updated_at && { updated: account.updated_at })} />
      </section>
    </div>
  );
}

function Actions({ account, onClose }: { readonly account: FiatAccount; readonly onClose: () => void }) {
  const mayWrite = useMay('transfer:write_fiat_account');
  const mayPay = useMay('transfer:write_fiat_withdrawal');
  const maySimulate = useMay('sandbox:simulate') && IS_SANDBOX;
  const [asked, setAsked] = useState(false);
  return (
    <>
      {mayWrite && <Button onClick={() => setAsked(true)}>Delete</Button>}
      {maySimulate && account.status === 'PENDING' && (
        <Button
          onClick={() =>
            void ferry.simulateFiatAccountApproval({ id: account.id }).then(async () => {
              await queryClient.invalidateQueries();
              toast('Approved it, as the sandbox allows.');
            })
          }
        >
          Approve (sandbox)
        </Button>
      )}
      {mayPay && account.status !== 'REJECTED' && (
        <LinkButton variant="primary" to={`/new/fiat-withdrawal?fiat_account=${account.id}`}>
          Withdraw to it
        </LinkButton>
      )}
      <ConfirmDialog
        open={asked}
        onClose={() => setAsked(false)}
        title="Delete this fiat account?"
        description="Its personal data is erased, and nothing more can be paid to it. Past transfers stay."
        action="Delete the fiat account"
        danger
        onConfirm={async () => {
          await ferry.deleteFiatAccount({ id: account.id });
          onClose();
          await queryClient.invalidateQueries();
          toast('Deleted the fiat account.');
        }}
      >
        <Facts
          facts={[
            { name: 'Owner', value: ownerOf(account) },
            { name: 'Number', value: destinationOf(account).number },
          ]}
        />
      </ConfirmDialog>
    </>
  );
}
