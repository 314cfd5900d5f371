import { type ReactNode, useState } from 'react';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import { fromLocalInput, localTime, READER_ZONE, toLocalInput } from '~/lib/time.ts';
import { words } from '~/lib/words.ts';
import { Button } from './button.tsx';
import { Drawer } from './dialog.tsx';
import { Checkbox, Field, Select, TextArea, TextInput } from './field.tsx';
import { Icon } from './icon.tsx';
import { SavedViews } from './saved-views.tsx';
import type { Filter } from './search-of.ts';

function Control({
  filter,
  value,
  onChange,
}: {
  filter: Filter;
  value: string | readonly string[] | undefined;
  onChange: (next: string | readonly string[] | undefined) => void;
}) {
  const { label } = filter;
  if (filter.kind === 'choices') {
    const chosen = [value ?? []].flat();
    const toggle = (option: string): void => {
      const next = chosen.includes(option) ? chosen.filter((one) => one !== option) : [...chosen, option];
      onChange(next.length === 0 ? undefined : next);
    };
    return (
      <fieldset className="flex flex-col">
        <legend className="mb-1 text-xs font-medium text-quiet">{label}</legend>
        <div className="grid grid-cols-1 gap-x-4 sm:grid-cols-2">
          {filter.options.map((option) => (
            <Checkbox
              key={option}
              label={words(option)}
              checked={chosen.includes(option)}
              onChange={() => toggle(option)}
            />
          ))}
        </div>
      </fieldset>
    );
  }
  return (
    <Field
      label={label}
      {...(filter.kind === 'texts' && { hint: 'Several, one per line' })}
      {...(filter.kind === 'time' && { hint: READER_ZONE })}
    >
      {(wired) => {
        if (filter.kind === 'choice')
          return (
            <Select
              {...wired}
              value={String(value ?? '')}
              onChange={(event) => onChange(event.target.value || undefined)}
              options={[
                { value: '', label: 'Default' },
                ...filter.options.map((one) => ({ value: one, label: words(one) })),
              ]}
            />
          );
        if (filter.kind === 'texts')
          return (
            <TextArea
              {...wired}
              rows={2}
              className="font-mono text-xs"
              defaultValue={[value ?? []].flat().join('\n')}
              onBlur={(event) => {
                const texts = event.target.value.split(/[\s,]+/).filter((one) => one !== '');
                onChange(texts.length === 0 ? undefined : texts);
              }}
            />
          );
        return filter.kind === 'time' ? (
          <TextInput
            {...wired}
            type="datetime-local"
            defaultValue={typeof value === 'string' ? toLocalInput(value) : ''}
            onChange={(event) => onChange(fromLocalInput(event.target.value))}
          />
        ) : (
          <TextInput
            {...wired}
            defaultValue={String(value ?? '')}
            onBlur={(event) => onChange(event.target.value.trim() || undefined)}
          />
        );
      }}
    </Field>
  );
}

function shownValue(filter: Filter, value: string | readonly string[]): string {
  const texts = [value]
    .flat()
    .map((one) =>
      filter.kind === 'time' ? localTime(one) : filter.kind.startsWith('choice') ? words(one) : one,
    );
  return texts.length > 2 ? `${texts[0]} and ${texts.length - 1} more` : texts.join(' or ');
}

/** Every filter of a list, as a part of the address; and views that the person has saved. */
export function FilterBar({
  list,
  filters,
  children,
}: {
  /** Under this name, views are saved in the browser. */
  readonly list: string;
  readonly filters: readonly Filter[];
  /** At the right: export, for example. */
  readonly children?: ReactNode;
}) {
  const search = useScreenSearch<Search>();
  const setSearch = useSetSearch();
  const [open, setOpen] = useState(false);
  const active = filters.filter(({ name }) => search[name] !== undefined);
  const set = (name: string, value: string | readonly string[] | undefined): void => {
    const { [name]: _, ...rest } = search;
    setSearch(value === undefined ? rest : { ...rest, [name]: value });
  };
  return (
    <div className="flex flex-wrap items-center gap-2 px-4 pb-3 sm:px-6">
      <Button icon="filter" onClick={() => setOpen(true)}>
        Filters
      </Button>
      <SavedViews list={list} search={search} onOpen={setSearch} />
      {active.map((filter) => (
        <button
          key={filter.name}
          type="button"
          onClick={() => set(filter.name, undefined)}
          title="Remove this filter"
          className="flex h-7 max-w-72 items-center gap-1.5 rounded-full bg-accent-soft pr-2 pl-3 text-xs text-accent"
        >
          <span className="truncate">
            {filter.label}:{' '}
            <strong className="font-medium">{shownValue(filter, search[filter.name]!)}</strong>
          </span>
          <Icon name="close" className="size-3 shrink-0" />
        </button>
      ))}
      {children !== undefined && <div className="ml-auto flex items-center gap-2">{children}</div>}
      <Drawer
        open={open}
        onClose={() => setOpen(false)}
        title="Filters"
        description="They count at once, and are part of the address."
        footer={
          <>
            <Button onClick={() => setSearch({})} disabled={active.length === 0}>
              Remove all
            </Button>
            <Button variant="primary" onClick={() => setOpen(false)}>
              Show
            </Button>
          </>
        }
      >
        <div className="flex flex-col gap-4">
          {filters.map((filter) => (
            <Control
              key={filter.name}
              filter={filter}
              value={search[filter.name]}
              onChange={(value) => set(filter.name, value)}
            />
          ))}
        </div>
      </Drawer>
    </div>
  );
}
