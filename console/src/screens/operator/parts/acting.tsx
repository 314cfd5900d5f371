import type { components } from '@ferry/client';
import { type ReactNode, useState } from 'react';
import { queryClient } from '~/app/api.ts';
import { useGo } from '~/app/navigation.ts';
import { counted } from '~/lib/words.ts';
import { ConfirmDialog, Field, TextArea, TextInput, toast } from '~/ui/index.ts';

type Approval = components['schemas']['Approval'];

/** Where four eyes are required, an operation answers with its proposal instead of what it would have made. */
export function proposalIn(answer: unknown): Approval | undefined {
  const found = answer as Partial<Approval> | undefined;
  return found?.digest !== undefined && found.quorum !== undefined && found.proposal !== undefined
    ? (found as Approval)
    : undefined;
}

/** Says what has happened, reads what is on the screen again, and leads to the proposal if there is one. */
export function useActed(): (answer: unknown, done: string) => Promise<void> {
  const go = useGo();
  return async (answer, done) => {
    const proposal = proposalIn(answer);
    void queryClient.invalidateQueries();
    if (proposal === undefined) {
      toast(done);
      return;
    }
    toast(`Proposed. It waits for ${counted(proposal.quorum, 'approval')}; nothing was executed.`);
    // After the dialog has closed, which may change the address as well.
    setTimeout(() => go(`/operator/approvals/${proposal.id}`));
  };
}

const LABELS = {
  reason: ['Reason', 'For operators only. The customer is not shown it.'],
  reference: ['Evidence', "The bank's reference, the transaction hash, or the number of a case"],
  note: ['Note for the customer (optional)', 'The customer sees it in their events'],
} as const;
type Name = keyof typeof LABELS;
export type Reasons = { readonly reason: string; readonly reference: string; readonly note?: string };

/** Asks why, says exactly what will happen, and does it once. */
export function ActDialog({
  fields = ['reason'],
  act,
  done,
  children,
  isReady = true,
  ...dialog
}: {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  readonly action: string;
  readonly danger?: boolean;
  readonly isReady?: boolean;
  readonly fields?: readonly Name[];
  readonly children?: ReactNode;
  readonly act: (given: Reasons) => Promise<unknown>;
  /** What has happened then. */
  readonly done: string;
}) {
  const [given, setGiven] = useState<Readonly<Record<Name, string>>>({ reason: '', reference: '', note: '' });
  const acted = useActed();
  const isFilled = fields.every((name) => name === 'note' || given[name].trim() !== '');
  return (
    <ConfirmDialog
      {...dialog}
      isReady={isReady && isFilled}
      onConfirm={async () => {
        const note = given.note.trim();
        const answer = await act({
          reason: given.reason.trim(),
          reference: given.reference.trim(),
          ...(note !== '' && { note }),
        });
        await acted(answer, done);
      }}
    >
      {children}
      {fields.map((name) => {
        const [label, hint] = LABELS[name];
        const common = {
          value: given[name],
          maxLength: 500,
          onChange: ({ target }: { target: { value: string } }) =>
            setGiven({ ...given, [name]: target.value }),
        };
        return (
          <Field key={name} label={label} hint={hint}>
            {(wired) =>
              name === 'reason' ? (
                <TextArea {...wired} {...common} rows={2} />
              ) : (
                <TextInput {...wired} {...common} />
              )
            }
          </Field>
        );
      })}
    </ConfirmDialog>
  );
}
