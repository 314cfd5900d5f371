import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useMay } from '~/app/session.ts';
import type { Profile } from '~/customer/data.ts';
import { Button, ConfirmDialog, Field, Id, Panel, Select, TextArea, toast } from '~/ui/index.ts';

type From = 'ANYONE' | 'LISTED';

/** Who may pay the profile and propose settlements to it. */
export function Incoming({ profile }: { readonly profile: Profile }) {
  const mayWrite = useMay('funding:write_profile');
  const [open, setOpen] = useState(false);
  const from: From = profile.incoming?.accepts_from ?? 'ANYONE';
  const listed = profile.incoming?.profile_ids ?? [];
  const [chosen, setChosen] = useState<From>(from);
  const [texts, setTexts] = useState(listed.join('\n'));
  return (
    <Panel
      title="Who may pay this profile"
      action={
        mayWrite && (
          <Button variant="ghost" onClick={() => setOpen(true)}>
            Change
          </Button>
        )
      }
    >
      <p className="text-sm">
        {from === 'ANYONE'
          ? 'Every customer may transfer to it and propose settlements.'
          : 'Only your own profiles and those listed here. For others it does not exist.'}
      </p>
      <ul className="mt-2 flex flex-col gap-1">
        {listed.map((id) => (
          <li key={id}>
            <Id id={id} of="profile id" whole />
          </li>
        ))}
      </ul>
      <ConfirmDialog
        open={open}
        onClose={() => setOpen(false)}
        title="Who may pay this profile"
        description="Deposits, and settlements that you affirmed before, are not affected."
        action="Save"
        onConfirm={async () => {
          const ids = texts.split(/[\s,]+/).filter((one) => one !== '');
          await ferry.setProfileIncoming({
            id: profile.id,
            accepts_from: chosen,
            ...(chosen === 'LISTED' && { profile_ids: ids }),
          });
          await queryClient.invalidateQueries();
          toast('Saved who may pay this profile.');
        }}
      >
        <Field label="Accepts from">
          {(wired) => (
            <Select
              {...wired}
              value={chosen}
              onChange={(event) => setChosen(event.target.value as From)}
              options={[
                { value: 'ANYONE', label: 'Anyone' },
                { value: 'LISTED', label: 'Listed profiles only' },
              ]}
            />
          )}
        </Field>
        {chosen === 'LISTED' && (
          <Field
            label="Profiles of other customers"
            hint="One id per line; none means your own profiles only"
          >
            {(wired) => (
              <TextArea
                {...wired}
                className="font-mono text-xs"
                value={texts}
                onChange={(event) => setTexts(event.target.value)}
              />
            )}
          </Field>
        )}
      </ConfirmDialog>
    </Panel>
  );
}
