import { useState } from 'react';
import type { Search } from '~/app/screen.ts';
import { readStored, store } from '~/lib/storage.ts';
import { Button } from './button.tsx';
import { ConfirmDialog } from './dialog.tsx';
import { Field, TextInput } from './field.tsx';
import { Menu } from './menu.tsx';
import { toast } from './toast.tsx';

type View = { readonly name: string; readonly search: Search };

/** Filters under a name, in this browser. */
export function SavedViews({
  list,
  search,
  onOpen,
}: {
  readonly list: string;
  readonly search: Search;
  readonly onOpen: (search: Search) => void;
}) {
  const key = `views.${list}`;
  const [views, setViews] = useState(() => readStored<readonly View[]>(key, []));
  const [naming, setNaming] = useState(false);
  const [name, setName] = useState('');
  const keep = (next: readonly View[]): void => {
    setViews(next);
    store(key, next);
  };
  const { customer: _, ...own } = search;
  const same = views.find((view) => JSON.stringify(view.search) === JSON.stringify(own));
  return (
    <>
      <Menu
        trigger={<Button icon="bookmark">{same?.name ?? 'Views'}</Button>}
        items={[
          { label: 'Everything', isOn: Object.keys(own).length === 0, onSelect: () => onOpen({}) },
          ...views.map((view) => ({
            label: view.name,
            isOn: view === same,
            onSelect: () => onOpen(view.search),
          })),
          same === undefined
            ? { label: 'Save this view…', icon: 'plus' as const, onSelect: () => setNaming(true) }
            : {
                label: `Delete “${same.name}”`,
                icon: 'close' as const,
                onSelect: () => keep(views.filter((view) => view !== same)),
              },
        ]}
      />
      <ConfirmDialog
        open={naming}
        onClose={() => setNaming(false)}
        title="Save this view"
        description="It keeps the filters of this list, in this browser."
        action="Save"
        isReady={name.trim() !== ''}
        onConfirm={async () => {
          keep([...views.filter((view) => view.name !== name.trim()), { name: name.trim(), search: own }]);
          toast(`Saved the view “${name.trim()}”.`);
        }}
      >
        <Field label="Name">
          {(wired) => (
            <TextInput
              {...wired}
              value={name}
              maxLength={60}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
      </ConfirmDialog>
    </>
  );
}
