import { useState } from 'react';
import { ferry } from '~/app/api.ts';
import { formatAmount } from '~/lib/money.ts';
import { Field, Select } from '~/ui/index.ts';
import { ActDialog } from '../parts/acting.tsx';
import type { Transfer } from './page.tsx';

export type Act = 'release' | 'refuse' | 'cancel' | 'resolve';
type Outcome = 'PAID' | 'NOT_PAID';

const EVIDENCE = ['reason', 'reference', 'note'] as const;

/** The dialogs of what an operator can do with a withdrawal. */
export function ActOn({
  act,
  onClose,
  transfer,
  rail,
}: {
  readonly act: Act | undefined;
  readonly onClose: () => void;
  readonly transfer: Transfer;
  readonly rail: string;
}) {
  const [outcome, setOutcome] = useState<Outcome>('PAID');
  const { id, amount, total, asset } = transfer;
  const [paid, whole] = [amount, total].map((one) => `${formatAmount(one)} ${asset}`);
  const returns = `The withdrawal fails, and ${whole} return to the profile.`;
  return (
    <>
      <ActDialog
        open={act === 'release'}
        onClose={onClose}
        title="Release the withdrawal"
        description={`${paid} are handed to the ${rail} rail, unless something else holds them.`}
        action="Release"
        act={({ reason }) => ferry.releaseHeldWithdrawal({ id, reason })}
        done="Released."
      />
      <ActDialog
        open={act === 'refuse'}
        onClose={onClose}
        title="Refuse the withdrawal"
        description={returns}
        action="Refuse"
        danger
        act={({ reason }) => ferry.refuseHeldWithdrawal({ id, reason })}
        done={`Refused. ${whole} returned to the profile.`}
      />
      <ActDialog
        open={act === 'cancel'}
        onClose={onClose}
        title="Cancel the withdrawal"
        description={`The ${rail} rail has not received it. ${returns}`}
        action="Cancel the withdrawal"
        danger
        fields={EVIDENCE}
        act={(given) => ferry.cancelWithdrawal({ id, ...given } as never)}
        done={`Cancelled. ${whole} returned to the profile.`}
      />
      <ActDialog
        open={act === 'resolve'}
        onClose={onClose}
        title="Resolve the withdrawal"
        description={
          outcome === 'PAID'
            ? `The withdrawal is completed: ${paid} have left. Nothing is sent.`
            : `${returns} If the rail pays it after all, the money is lost.`
        }
        action={outcome === 'PAID' ? 'It was paid' : 'It was not paid'}
        danger={outcome === 'NOT_PAID'}
        fields={EVIDENCE}
        act={(given) => ferry.resolveWithdrawal({ id, outcome, ...given } as never)}
        done={outcome === 'PAID' ? 'Resolved as paid.' : `Resolved. ${whole} returned to the profile.`}
      >
        <Field label="What does the evidence say?">
          {(wired) => (
            <Select
              {...wired}
              value={outcome}
              onChange={(event) => setOutcome(event.target.value as Outcome)}
              options={[
                { value: 'PAID', label: `The ${rail} rail has paid it` },
                { value: 'NOT_PAID', label: `The ${rail} rail has not paid it, and never will` },
              ]}
            />
          )}
        </Field>
      </ActDialog>
    </>
  );
}
