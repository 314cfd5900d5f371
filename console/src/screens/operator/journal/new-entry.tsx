import { useState } from 'react';
import { ferry } from '~/app/api.ts';
import { words } from '~/lib/words.ts';
import { AmountInput, Field, Select, TextInput } from '~/ui/index.ts';
import { ActDialog } from '../parts/acting.tsx';
import { KINDS } from './filters.ts';
import { CHOICES, type FieldName, type Kind, LABELS, MEANINGS, requestOf } from './kinds.ts';

/** A journal entry as a form. Its ref_id is made once, so that it is booked once however often it is sent. */
export function NewEntry({ onClose }: { readonly onClose: () => void }) {
  const [kind, setKind] = useState<Kind>('MANUAL_DEPOSIT');
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({
    source: 'fees',
    corrects_type: 'TRANSFER',
  });
  const [refId] = useState(() => `console-${crypto.randomUUID()}`);
  const [meaning, fields] = MEANINGS[kind];
  const isReady = fields.every((name) => name.endsWith('?') || (texts[name] ?? '').trim() !== '');
  const set = (name: string, value: string): void => setTexts({ ...texts, [name]: value });
  return (
    <ActDialog
      open
      onClose={onClose}
      title="Book a journal entry"
      description={meaning}
      action="Book it"
      fields={['reason', 'reference', 'note']}
      isReady={isReady}
      act={(given) => ferry.bookJournalEntry({ ...requestOf(kind, texts), ref_id: refId, ...given } as never)}
      done="Booked."
    >
      <Field label="Kind">
        {(wired) => (
          <Select
            {...wired}
            value={kind}
            onChange={(event) => setKind(event.target.value as Kind)}
            options={KINDS.map((value) => ({ value, label: words(value) }))}
          />
        )}
      </Field>
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        {fields.map((field) => {
          const name = field.replace('?', '') as FieldName;
          const [label, hint] = LABELS[name];
          const choices = CHOICES[name];
          const Control = name === 'amount' ? AmountInput : TextInput;
          return (
            <Field
              key={field}
              label={field.endsWith('?') ? `${label} (optional)` : label}
              {...(hint !== undefined && { hint })}
            >
              {(wired) =>
                choices === undefined ? (
                  <Control
                    {...wired}
                    value={texts[name] ?? ''}
                    onChange={(event) => set(name, event.target.value)}
                  />
                ) : (
                  <Select
                    {...wired}
                    value={texts[name] ?? ''}
                    onChange={(event) => set(name, event.target.value)}
                    options={choices.map((value) => ({ value, label: words(value) }))}
                  />
                )
              }
            </Field>
          );
        })}
      </div>
    </ActDialog>
  );
}
