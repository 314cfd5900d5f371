import type { ReactNode } from 'react';
import type { Form, Values } from '~/customer/form.tsx';
import { Button, LinkButton, Panel, ProblemNotice } from '~/ui/index.ts';

/** The fields at the left, and what they amount to at the right. Enter leads to the review. */
export function CreateFrame<Shape extends Values>({
  form,
  onReview,
  action = 'Review',
  busy = false,
  children,
  aside,
}: {
  readonly form: Form<Shape>;
  /** Only with a form that is valid. */
  readonly onReview: () => void;
  readonly action?: string;
  readonly busy?: boolean;
  readonly children: ReactNode;
  readonly aside?: ReactNode;
}) {
  return (
    <form
      noValidate
      className="grid max-w-5xl grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]"
      onSubmit={(event) => {
        event.preventDefault();
        form.showAll();
        if (form.isValid) onReview();
        else
          requestAnimationFrame(() =>
            document.querySelector<HTMLElement>('form [aria-invalid="true"]')?.focus(),
          );
      }}
    >
      <Panel>
        <div className="flex flex-col gap-4">
          {children}
          {form.refused !== undefined && <ProblemNotice error={form.refused} />}
          <div className="flex gap-2 border-t border-line pt-4">
            <Button type="submit" variant="primary" busy={busy}>
              {action}
            </Button>
            <LinkButton to="/new" variant="ghost">
              Cancel
            </LinkButton>
          </div>
        </div>
      </Panel>
      {aside !== undefined && <div className="flex flex-col gap-4 lg:sticky lg:top-4">{aside}</div>}
    </form>
  );
}

export const Pair = ({ children }: { readonly children: ReactNode }) => (
  <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">{children}</div>
);

/** What to know before it is sent. */
export const Notes = ({ children }: { readonly children: ReactNode }) => (
  <Panel title="What happens">
    <ul className="flex list-disc flex-col gap-1.5 pl-4 text-sm text-quiet">{children}</ul>
  </Panel>
);
