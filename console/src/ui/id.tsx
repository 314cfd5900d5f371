import { cx } from '~/lib/cx.ts';
import { Icon } from './icon.tsx';
import { toast } from './toast.tsx';

export async function copy(text: string, what = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what}.`);
  } catch {
    toast('The browser did not allow to copy.', 'bad');
  }
}

export const shortId = (id: string): string => (id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id);

export type IdProps = {
  readonly id: string;
  /** What it is, for the label: "transfer id". */
  readonly of?: string;
  readonly whole?: boolean;
};

/** An id that can be copied. Ids of version 7 start alike, so the short form has both ends. */
export function Id({ id, of = 'id', whole = false }: IdProps) {
  const shown = whole ? id : shortId(id);
  return (
    <button
      type="button"
      title={`${id}\nCopy`}
      // With the text that is visible, so that it can be spoken to the browser.
      aria-label={`Copy the ${of} ${shown}`}
      onClick={(event) => {
        event.stopPropagation();
        event.preventDefault();
        void copy(id, `Copied the ${of}`);
      }}
      className={cx(
        'group -mx-1 inline-flex max-w-full items-center gap-1 rounded px-1 text-left font-mono text-xs hover:bg-hover',
        whole && 'break-all',
      )}
    >
      {shown}
      <Icon
        name="copy"
        className="size-3 shrink-0 text-quiet opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100"
      />
    </button>
  );
}
