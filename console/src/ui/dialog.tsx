import { Dialog as Base } from '@base-ui/react/dialog';
import { type ReactNode, useState } from 'react';
import { cx } from '~/lib/cx.ts';
import { Button, IconButton } from './button.tsx';
import { ProblemNotice } from './problem-notice.tsx';

const BACKDROP =
  'fixed inset-0 z-40 bg-black/35 transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0';

export type DialogProps = {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  readonly children?: ReactNode;
  readonly footer?: ReactNode;
  /** At the right edge, as high as the window: for details beside a list. */
  readonly side?: boolean;
  readonly wide?: boolean;
};

const CENTRED =
  'inset-x-3 top-[8vh] mx-auto max-h-[84vh] rounded-xl border data-starting-style:scale-98 data-starting-style:opacity-0';
const AT_SIDE =
  'inset-y-0 right-0 w-full max-w-xl border-l data-ending-style:translate-x-4 data-ending-style:opacity-0 data-starting-style:translate-x-4 data-starting-style:opacity-0';

/** Keeps the focus inside, and gives it back to where it came from. Escape closes it. */
export function Dialog({
  open,
  onClose,
  title,
  description,
  children,
  footer,
  side = false,
  wide = false,
}: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={BACKDROP} />
        <Base.Popup
          className={cx(
            'fixed z-40 flex flex-col overflow-hidden border-line bg-panel shadow-pop transition',
            side ? AT_SIDE : CENTRED,
            !side && (wide ? 'max-w-3xl' : 'max-w-lg'),
          )}
        >
          <header className="flex items-start gap-3 border-b border-line px-4 py-3">
            <div className="min-w-0 flex-1">
              <Base.Title className="font-semibold">{title}</Base.Title>
              {description !== undefined && (
                <Base.Description render={<div />} className="text-sm text-quiet">
                  {description}
                </Base.Description>
              )}
            </div>
            <IconButton label="Close" icon="close" onClick={onClose} />
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto p-4">{children}</div>
          {footer !== undefined && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-4 py-3">
              {footer}
            </footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** Details beside the list that they belong to. */
export const Drawer = (props: Omit<DialogProps, 'side'>) => <Dialog {...props} side />;

/** Says exactly what will happen, then does it once. A problem stays in the dialog, and the person can correct or leave. */
export function ConfirmDialog({
  action,
  onConfirm,
  danger = false,
  isReady = true,
  ...dialog
}: Omit<DialogProps, 'footer' | 'side'> & {
  /** The verb on the button: "Cancel the withdrawal". */
  readonly action: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly danger?: boolean;
  readonly isReady?: boolean;
}) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  async function confirm(): Promise<void> {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      dialog.onClose();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  }
  return (
    <Dialog
      {...dialog}
      footer={
        <>
          <Button onClick={dialog.onClose}>Back</Button>
          <Button
            variant={danger ? 'danger' : 'primary'}
            busy={busy}
            disabled={!isReady}
            onClick={() => void confirm()}
          >
            {action}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {dialog.children}
        {error !== undefined && <ProblemNotice error={error} />}
      </div>
    </Dialog>
  );
}
