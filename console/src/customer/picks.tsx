import type { ComponentProps } from 'react';
import { useId } from 'react';
import { Select, TextInput } from '~/ui/index.ts';
import { useProfiles } from './data.ts';

type Wired = Omit<ComponentProps<'select'>, 'children'>;

/** One of the own profiles, by its nickname. */
export function ProfileSelect({ all, ...wired }: Wired & { readonly all?: string }) {
  const profiles = useProfiles();
  return (
    <Select
      {...wired}
      options={[
        { value: '', label: all ?? (profiles === undefined ? 'Loading…' : 'Choose a profile') },
        ...(profiles ?? []).map(({ id, nickname }) => ({ value: id, label: nickname })),
      ]}
    />
  );
}

/** The id of any profile; the own ones are suggested. */
export function ProfileInput(props: ComponentProps<'input'>) {
  const profiles = useProfiles();
  const list = useId();
  return (
    <>
      <TextInput {...props} list={list} className="font-mono text-xs" placeholder="Profile id" />
      <datalist id={list}>
        {(profiles ?? []).map(({ id, nickname }) => (
          <option key={id} value={id}>
            {nickname}
          </option>
        ))}
      </datalist>
    </>
  );
}
