import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useMay } from '~/app/session.ts';
import { words } from '~/lib/words.ts';
import {
  Button,
  Checkbox,
  ConfirmDialog,
  copy,
  Dialog,
  Drawer,
  Facts,
  Field,
  Id,
  Loading,
  ProblemNotice,
  StatusBadge,
  TextInput,
  Time,
  toast,
} from '~/ui/index.ts';
import type { Person } from './page.tsx';

const ROLES = ['VIEWER', 'MAKER', 'APPROVER', 'ADMINISTRATOR'] as const;
type Role = (typeof ROLES)[number];
const ABOUT: Readonly<Record<Role, string>> = {
  VIEWER: 'reads',
  MAKER: 'requests, books and reviews',
  APPROVER: 'approves',
  ADMINISTRATOR: 'manages people, policies and freezes',
};

function Roles({ roles, onChange }: { roles: readonly Role[]; onChange: (next: readonly Role[]) => void }) {
  return (
    <fieldset>
      <legend className="mb-1 text-xs font-medium text-quiet">Roles</legend>
      {ROLES.map((role) => (
        <Checkbox
          key={role}
          label={
            <>
              {words(role)} <span className="text-quiet">{ABOUT[role]}</span>
            </>
          }
          checked={roles.includes(role)}
          onChange={() =>
            onChange(roles.includes(role) ? roles.filter((one) => one !== role) : [...roles, role])
          }
        />
      ))}
    </fieldset>
  );
}

/** A link takes the place of the dialog that made it, which would close otherwise. */
function useLink(onClose: () => void) {
  const made = useRef(false);
  const [url, setUrl] = useState<string>();
  return {
    url,
    show: (next: string) => {
      made.current = true;
      setUrl(next);
    },
    closeUnlessMade: () => {
      if (!made.current) onClose();
    },
  };
}

/** The link is shown once: who has it can sign in as the person. */
function EnrolmentLink({ url, onClose }: { readonly url: string; readonly onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title="Send this link to the person"
      description="With it, they create a passkey, once. It is not shown again."
      footer={
        <>
          <Button icon="copy" variant="primary" onClick={() => void copy(url, 'Copied the link')}>
            Copy
          </Button>
          <Button onClick={onClose}>Done</Button>
        </>
      }
    >
      <code className="font-mono text-xs break-all">{url}</code>
    </Dialog>
  );
}

export function NewPerson({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [customer, setCustomer] = useState('');
  const [roles, setRoles] = useState<readonly Role[]>(['VIEWER']);
  const { url, show, closeUnlessMade } = useLink(onClose);
  if (url !== undefined) return <EnrolmentLink url={url} onClose={onClose} />;
  return (
    <ConfirmDialog
      open
      onClose={closeUnlessMade}
      title="Add a person"
      action="Add"
      isReady={name.trim() !== '' && email.trim() !== '' && roles.length > 0}
      onConfirm={async () => {
        const answer = await ferry.createPerson({
          name: name.trim(),
          email: email.trim(),
          roles: [...roles],
          ...(customer.trim() !== '' && { customer_id: customer.trim() }),
        });
        await queryClient.invalidateQueries();
        show(answer.enrolment_url);
      }}
    >
      <Field label="Name">
        {(wired) => <TextInput {...wired} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <Field label="Email">
        {(wired) => (
          <TextInput
            {...wired}
            type="email"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <Field label="Customer (optional)" hint="Its id. Empty: a person of the operator">
        {(wired) => (
          <TextInput
            {...wired}
            className="font-mono"
            value={customer}
            onChange={(event) => setCustomer(event.target.value)}
          />
        )}
      </Field>
      <Roles roles={roles} onChange={setRoles} />
    </ConfirmDialog>
  );
}

export function PersonDrawer({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const read = useQuery({ queryKey: ['person', id], queryFn: () => ferry.getPerson({ id }) });
  const [act, setAct] = useState<'roles' | 'link' | 'sessions' | 'disable'>();
  const mayChange = useMay('people:write_person');
  const person = read.data;
  return (
    <>
      <Drawer
        open={act === undefined}
        onClose={onClose}
        title={person?.name ?? 'Person'}
        footer={
          mayChange && person?.status === 'ACTIVE' ? (
            <>
              <Button onClick={() => setAct('disable')}>Disable</Button>
              <Button onClick={() => setAct('sessions')}>End sessions</Button>
              <Button onClick={() => setAct('link')}>New link</Button>
              <Button variant="primary" onClick={() => setAct('roles')}>
                Change roles
              </Button>
            </>
          ) : undefined
        }
      >
        {read.error !== null && <ProblemNotice error={read.error} retry={() => void read.refetch()} />}
        {person === undefined && read.error === null && <Loading />}
        {person !== undefined && <PersonFacts person={person} />}
      </Drawer>
      {person !== undefined && act !== undefined && (
        <Change act={act} person={person} onClose={() => setAct(undefined)} />
      )}
    </>
  );
}

function PersonFacts({ person }: { readonly person: Person }) {
  const sessions = useQuery({
    queryKey: ['person-sessions', person.id],
    queryFn: () => ferry.listPersonSessions({ id: person.id }),
  });
  return (
    <div className="flex flex-col gap-5">
      <Facts
        facts={[
          { name: 'Email', value: person.email },
          { name: 'Status', value: <StatusBadge status={person.status} /> },
          { name: 'Roles', value: person.roles.map((role) => words(role)).join(', ') },
          {
            name: 'Of',
            value:
              person.customer_id === undefined ? (
                'the operator'
              ) : (
                <Id id={person.customer_id} of="customer id" whole />
              ),
          },
          { name: 'Passkeys', value: `${person.passkeys}` },
          { name: 'Added', value: <Time at={person.created_at} /> },
          { name: 'Person', value: <Id id={person.id} of="person id" whole /> },
        ]}
      />
      <section>
        <h3 className="eyebrow mb-2">Sessions</h3>
        {sessions.error !== null && <ProblemNotice error={sessions.error} />}
        {sessions.data?.items.length === 0 && <p className="text-sm text-quiet">Not signed in.</p>}
        <ul className="flex flex-col gap-2 text-sm">
          {sessions.data?.items.map((one) => (
            <li key={one.id}>
              {words(one.method)} {one.address !== undefined && `from ${one.address}`}
              <p className="text-xs text-quiet">
                used <Time at={one.used_at} form="relative" />, since{' '}
                <Time at={one.created_at} form="short" />
              </p>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function Change({
  act,
  person,
  onClose,
}: {
  readonly act: 'roles' | 'link' | 'sessions' | 'disable';
  readonly person: Person;
  readonly onClose: () => void;
}) {
  const { id, name } = person;
  const [roles, setRoles] = useState<readonly Role[]>(person.roles);
  const { url, show, closeUnlessMade } = useLink(onClose);
  if (url !== undefined) return <EnrolmentLink url={url} onClose={onClose} />;
  const done = async (text: string): Promise<void> => {
    await queryClient.invalidateQueries();
    toast(text);
  };
  const common = { open: true, onClose: closeUnlessMade } as const;
  if (act === 'roles')
    return (
      <ConfirmDialog
        {...common}
        title={`Roles of ${name}`}
        action="Save"
        isReady={roles.length > 0}
        onConfirm={async () => {
          await ferry.changePerson({ id, roles: [...roles] });
          await done('The roles are changed. They count at once.');
        }}
      >
        <Roles roles={roles} onChange={setRoles} />
      </ConfirmDialog>
    );
  if (act === 'link')
    return (
      <ConfirmDialog
        {...common}
        title={`A new link for ${name}`}
        description="The person creates another passkey with it. Links that were made before stop working."
        action="Make the link"
        onConfirm={async () => {
          const answer = await ferry.createEnrolmentLink({ id });
          show(answer.enrolment_url);
        }}
      />
    );
  return (
    <ConfirmDialog
      {...common}
      title={act === 'disable' ? `Disable ${name}` : `End the sessions of ${name}`}
      description={
        act === 'disable'
          ? 'The person can never sign in again, and their sessions end at once. This cannot be undone.'
          : 'The person has to sign in again on every device.'
      }
      action={act === 'disable' ? 'Disable' : 'End all sessions'}
      danger
      onConfirm={async () => {
        if (act === 'disable') await ferry.disablePerson({ id });
        else await ferry.endPersonSessions({ id });
        await done(act === 'disable' ? `${name} is disabled.` : 'The sessions have ended.');
      }}
    />
  );
}
