import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';

export type Tab = { readonly id: string; readonly label: ReactNode; readonly content: ReactNode };

/** Keep the open one in the address: `value={search.tab}` and `onChange={(tab) => setSearch({ …, tab })}`. */
export function Tabs({
  tabs,
  value,
  onChange,
}: {
  readonly tabs: readonly Tab[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}) {
  return (
    <Base.Root value={value} onValueChange={(id: string) => onChange(id)}>
      <Base.List className="flex gap-4 overflow-x-auto border-b border-line">
        {tabs.map(({ id, label }) => (
          <Base.Tab
            key={id}
            value={id}
            className="-mb-px h-9 border-b-2 border-transparent text-sm whitespace-nowrap text-quiet hover:text-ink data-active:border-accent data-active:font-medium data-active:text-ink"
          >
            {label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(({ id, content }) => (
        <Base.Panel key={id} value={id} className="pt-4">
          {content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
