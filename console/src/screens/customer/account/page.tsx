import type { components } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { useScreenParams } from '~/app/navigation.ts';
import { useMay } from '~/app/session.ts';
import { ChangeLog } from '~/customer/change-log.tsx';
import { nameOf, useProfileName } from '~/customer/data.ts';
import { words } from '~/lib/words.ts';
import {
  Button,
  ConfirmDialog,
  EmptyState,
  Facts,
  Id,
  LinkButton,
  Loading,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  Time,
  toast,
} from '~/ui/index.ts';

type Account = components['schemas']['Account'];
type Member = components['schemas']['AccountMember'];

export default function OneAccount() {
  const { id } = useScreenParams<{ id: string }>();
  const account = useQuery({ queryKey: ['accounts', id], queryFn: () => ferry.getAccount({ id }) });
  const back = { to: '/identities?tab=accounts', label: 'Accounts' };
  if (account.error !== null)
    return (
      <PageBody>
        <PageHeader title="Account" back={back} />
        <ProblemNotice error={account.error} retry={() => void account.refetch()} />
      </PageBody>
    );
  if (account.data === undefined) return <Loading what="Loading the account" />;
  return <Details account={account.data} />;
}

function Details({ account }: { readonly account: Account }) {
  const mayWrite = useMay('identity:write_account');
  const profileName = useProfileName();
  const ids = [...new Set([account.identity_id, ...account.members.map((one) => one.identity_id)])];
  const identities = useQuery({
    queryKey: ['identities', 'named', ids],
    queryFn: async () => (await ferry.listIdentities({ ids, limit: 100 })).items,
  }).data;
  const name = (id: string): string => {
    const found = identities?.find((one) => one.id === id);
    return found === undefined ? `…${id.slice(-8)}` : nameOf(found);
  };
  return (
    <>
      <PageHeader
        back={{ to: '/identities?tab=accounts', label: 'Accounts' }}
        title={`Account of ${name(account.identity_id)}`}
      >
        {mayWrite && (
          <LinkButton to={`/new/members?account=${account.id}`} variant="primary" icon="plus">
            Add members
          </LinkButton>
        )}
      </PageHeader>
      <PageBody>
        <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
          <Panel title="Members" flush>
            {account.members.length === 0 ? (
              <EmptyState icon="people" title="No members yet">
                Members are identities with roles: beneficial owner, authorized user, financial advisor.
              </EmptyState>
            ) : (
              <ul>
                {account.members.map((member) => (
                  <MemberLine
                    key={member.id}
                    member={member}
                    name={name(member.identity_id)}
                    mayRemove={mayWrite}
                  />
                ))}
              </ul>
            )}
          </Panel>
          <div className="flex flex-col gap-4">
            <Panel title="Details">
              <Facts
                facts={[
                  { name: 'Account', value: <Id id={account.id} of="account id" whole /> },
                  { name: 'Owner', value: name(account.identity_id) },
                  { name: 'Identity', value: <Id id={account.identity_id} of="identity id" whole /> },
                  { name: 'Type', value: words(account.type) },
                  account.description === undefined
                    ? undefined
                    : { name: 'Description', value: account.description },
                  account.profile_id === undefined
                    ? undefined
                    : {
                        name: 'Profile',
                        value: (
                          <Link
                            to={`/profiles/${account.profile_id}`}
                            className="text-accent hover:underline"
                          >
                            {profileName(account.profile_id) ?? account.profile_id}
                          </Link>
                        ),
                      },
                  { name: 'Created', value: <Time at={account.created_at} /> },
                ]}
              />
            </Panel>
            <Panel title="History">
              <ChangeLog resourceId={account.id} updated={account.updated_at} />
            </Panel>
          </div>
        </div>
      </PageBody>
    </>
  );
}

function MemberLine({
  member,
  name,
  mayRemove,
}: {
  readonly member: Member;
  readonly name: string;
  readonly mayRemove: boolean;
}) {
  const [asked, setAsked] = useState(false);
  return (
    <li className="flex items-center gap-3 border-b border-line/60 px-4 py-2 text-sm last:border-0">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{name}</p>
        <p className="text-xs text-quiet">{member.roles.map(words).join(', ')}</p>
      </div>
      {mayRemove && (
        <Button variant="ghost" onClick={() => setAsked(true)} aria-label={`Remove ${name}`}>
          Remove
        </Button>
      )}
      <ConfirmDialog
        open={asked}
        onClose={() => setAsked(false)}
        title={`Remove ${name} from the account?`}
        description={`With the roles ${member.roles.map(words).join(', ').toLowerCase()}. The identity stays.`}
        action="Remove the member"
        danger
        onConfirm={async () => {
          await ferry.removeAccountMember({ id: member.id });
          await queryClient.invalidateQueries();
          toast(`Removed ${name}.`);
        }}
      />
    </li>
  );
}
