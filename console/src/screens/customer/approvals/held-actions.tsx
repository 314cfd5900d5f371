import type { components } from '@ferry/client';
import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useGo } from '~/app/navigation.ts';
import { useMay } from '~/app/session.ts';
import { words } from '~/lib/words.ts';
import { Button, ConfirmDialog, Facts, Field, Id, Money, TextInput, toast } from '~/ui/index.ts';

type Transfer = components['schemas']['Transfer'];

/** Release or refuse a withdrawal that a policy of one's own holds. Where two people are required, it becomes a request. */
export function HeldActions({ transfer }: { readonly transfer: Transfer }) {
  const mayApprove = useMay('policy:approve_withdrawal');
  const go = useGo();
  const [asked, setAsked] = useState<'release' | 'refuse'>();
  const [reason, setReason] = useState('');
  if (!mayApprove || transfer.status !== 'PENDING' || transfer.secondary_status?.name !== 'AWAITING_APPROVAL')
    return null;
  const isRelease = asked === 'release';
  async function decide(): Promise<void> {
    const input = { id: transfer.id, reason: reason.trim() };
    const answer: unknown = await (isRelease
      ? ferry.releaseOwnHeldWithdrawal(input)
      : ferry.refuseOwnHeldWithdrawal(input));
    await queryClient.invalidateQueries();
    const { digest, id } = answer as { digest?: string; id: string };
    if (digest === undefined) {
      toast(isRelease ? 'Released. It goes to the rail now.' : 'Refused. The full total was returned.');
      return;
    }
    toast('Proposed. Somebody else has to approve it.');
    go(`/approvals/${id}`);
  }
  return (
    <div className="flex gap-2">
      <Button variant="primary" onClick={() => setAsked('release')}>
        Release
      </Button>
      <Button onClick={() => setAsked('refuse')}>Refuse</Button>
      <ConfirmDialog
        open={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={isRelease ? 'Release this withdrawal?' : 'Refuse this withdrawal?'}
        description={
          isRelease
            ? 'It is submitted to its rail, and paid.'
            : 'It fails, and its full total returns to the balance.'
        }
        action={isRelease ? 'Release the withdrawal' : 'Refuse the withdrawal'}
        danger={!isRelease}
        isReady={reason.trim() !== ''}
        onConfirm={decide}
      >
        <Facts
          facts={[
            { name: 'Type', value: words(transfer.type) },
            { name: 'Amount', value: <Money amount={transfer.amount} asset={transfer.asset} /> },
            { name: 'Fee', value: <Money amount={transfer.fee} asset={transfer.asset} /> },
            { name: 'Total', value: <Money amount={transfer.total} asset={transfer.asset} /> },
            transfer.destination_address === undefined
              ? undefined
              : { name: 'To', value: <Id id={transfer.destination_address} of="address" whole /> },
            transfer.fiat_account_id === undefined
              ? undefined
              : {
                  name: 'To fiat account',
                  value: <Id id={transfer.fiat_account_id} of="fiat account id" whole />,
                },
          ]}
        />
        <Field label="Reason" hint="It is in the audit log.">
          {(wired) => (
            <TextInput {...wired} value={reason} onChange={(event) => setReason(event.target.value)} />
          )}
        </Field>
      </ConfirmDialog>
    </div>
  );
}
