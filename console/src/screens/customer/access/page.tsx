import type { components } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useMay, useMe } from '~/app/session.ts';
import { counted, words } from '~/lib/words.ts';
import {
  Button,
  ConfirmDialog,
  Facts,
  Id,
  Loading,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  StatusBadge,
  Time,
  toast,
} from '~/ui/index.ts';

type Person = components['schemas']['Person'];
type Client = components['schemas']['OAuthClient'];

/** Who may do what: oneself, the other people, and the API clients. */
export default function Access() {
  const me = useMe();
  const groups = [...Map.groupBy(me.scopes, (scope) => scope.split(':')[0]!)];
  const mayRead = useMay('people:read_person');
  return (
    <>
      <PageHeader title="Access" />
      <PageBody>
        <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
          <Panel title="You">
            <Facts
              facts={[
                { name: 'Name', value: me.name },
                me.email === undefined ? undefined : { name: 'Email', value: me.email },
                { name: 'Roles', value: me.roles?.map(words).join(', ') ?? 'API client' },
                { name: 'Id', value: <Id id={me.id} of="your id" whole /> },
                me.session && { name: 'Signed in', value: <Time at={me.session.created_at} /> },
                me.session && { name: 'Until', value: <Time at={me.session.expires_at} /> },
              ]}
            />
          </Panel>
          <Panel title={`What you may do: ${counted(me.scopes.length, 'scope')}`}>
            <dl className="flex flex-col gap-2 text-sm">
              {groups.map(([group, scopes]) => (
                <div key={group}>
                  <dt className="font-medium">{words(group)}</dt>
                  <dd className="text-quiet">
                    {scopes.map((scope) => words(scope.slice(group.length + 1)).toLowerCase()).join(', ')}
                  </dd>
                </div>
              ))}
            </dl>
          </Panel>
        </div>
        {mayRead && <People />}
        <Clients />
      </PageBody>
    </>
  );
}

/** The operator creates them; their owner may be a person of the customer. */
function Clients() {
  const mayRead = useMay('control:read_client');
  const clients = useQuery({
    queryKey: ['clients'],
    queryFn: async () => (await ferry.listOwnClients({ limit: 1_000 })).items,
    enabled: mayRead,
  });
  return (
    <Panel title="API clients" flush>
      <p className="max-w-2xl px-4 py-3 text-sm text-quiet">
        The operator creates API clients with <code className="font-mono text-xs">ferry client create</code>,
        each with its scopes. What they do is in the audit log under their name.
      </p>
      {clients.error !== null && (
        <div className="p-4">
          <ProblemNotice error={clients.error} retry={() => void clients.refetch()} />
        </div>
      )}
      {mayRead && clients.data === undefined && clients.error === null && <Loading />}
      <ul>
        {clients.data?.map((one) => (
          <ClientLine key={one.client_id} client={one} />
        ))}
      </ul>
    </Panel>
  );
}

function ClientLine({ client }: { readonly client: Client }) {
  const { client_id: id, name, scopes, disabled_at: disabledAt, created_at: createdAt } = client;
  return (
    <li className="border-t border-line/60 px-4 py-2 text-sm">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <span className="min-w-0 flex-1 basis-48 truncate font-medium">{name}</span>
        <Id id={id} of={`the id of ${name}`} whole />
        <span className="text-xs text-quiet">
          since <Time at={createdAt} form="short" />
        </span>
        <StatusBadge status={disabledAt === undefined ? 'ACTIVE' : 'DISABLED'} />
      </div>
      <details className="mt-1 text-xs text-quiet">
        <summary className="cursor-pointer">{counted(scopes.length, 'scope')}</summary>
        <p className="mt-1 font-mono leading-relaxed break-words">{scopes.join(' ')}</p>
      </details>
    </li>
  );
}

function People() {
  const people = useQuery({
    queryKey: ['people'],
    queryFn: async () => (await ferry.listPeople({ limit: 1_000 })).items,
  });
  return (
    <Panel title="People" flush>
      {people.error !== null && (
        <div className="p-4">
          <ProblemNotice error={people.error} retry={() => void people.refetch()} />
        </div>
      )}
      {people.data === undefined && people.error === null && <Loading />}
      <ul>
        {people.data?.map((one) => (
          <Line key={one.id} person={one} />
        ))}
      </ul>
    </Panel>
  );
}

function Line({ person }: { readonly person: Person }) {
  const mayWrite = useMay('people:write_person');
  const me = useMe();
  const [asked, setAsked] = useState(false);
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line/60 px-4 py-2 text-sm last:border-0">
      <div className="min-w-0 flex-1 basis-48">
        <p className="truncate font-medium">{person.name}</p>
        <p className="truncate text-xs text-quiet">{person.email}</p>
      </div>
      <span className="basis-40 text-quiet">{person.roles.map(words).join(', ')}</span>
      <span className="basis-24 text-xs text-quiet">{counted(person.passkeys, 'passkey')}</span>
      <StatusBadge status={person.status} />
      {mayWrite && person.id !== me.id && (
        <Button
          variant="ghost"
          aria-label={`End the sessions of ${person.name}`}
          onClick={() => setAsked(true)}
        >
          End the sessions
        </Button>
      )}
      <ConfirmDialog
        open={asked}
        onClose={() => setAsked(false)}
        title={`End all sessions of ${person.name}?`}
        description="They have to sign in again, everywhere, at once."
        action="End the sessions"
        danger
        onConfirm={async () => {
          await ferry.endPersonSessions({ id: person.id });
          await queryClient.invalidateQueries();
          toast(`Ended the sessions of ${person.name}.`);
        }}
      />
    </li>
  );
}
