import type { Input } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useGo, useScreenSearch } from '~/app/navigation.ts';
import { nameOf } from '~/customer/data.ts';
import { FormField, required, useForm } from '~/customer/form.tsx';
import { words } from '~/lib/words.ts';
import {
  Button,
  Checkbox,
  ConfirmDialog,
  Facts,
  Field,
  fieldProblem,
  IconButton,
  LinkButton,
  Select,
  toast,
} from '~/ui/index.ts';
import { CreateFrame, Notes } from './frame.tsx';

type Role = Input<'addAccountMembers'>['members'][number]['roles'][number];
type Member = { readonly key: number; readonly identity: string; readonly roles: readonly Role[] };

const ROLES: readonly Role[] = ['BENEFICIAL_OWNER', 'AUTHORIZED_USER', 'FINANCIAL_ADVISOR'];
const CHOICES_MAX = 1_000;

export default function AddMembers() {
  const search = useScreenSearch<{ account?: string }>();
  const go = useGo();
  const [reviewed, setReviewed] = useState(false);
  const [members, setMembers] = useState<readonly Member[]>([{ key: 1, identity: '', roles: [] }]);
  const identities = useQuery({
    queryKey: ['identities', 'choices'],
    queryFn: async () => (await ferry.listIdentities({ limit: CHOICES_MAX })).items,
  }).data;
  const accounts = useQuery({
    queryKey: ['accounts', 'choices'],
    queryFn: async () => (await ferry.listAccounts({ limit: CHOICES_MAX })).items,
  }).data;
  const identityName = (id: string): string => {
    const found = identities?.find((one) => one.id === id);
    return found === undefined ? id : nameOf(found);
  };
  const faultOf = ({ identity, roles }: Member): string | undefined =>
    identity === ''
      ? 'Choose an identity.'
      : members.filter((one) => one.identity === identity).length > 1
        ? 'This identity is here twice.'
        : roles.length === 0
          ? 'Choose at least one role.'
          : undefined;
  const form = useForm({ account_id: search.account ?? '', members: '' }, (values) => ({
    account_id: required(values.account_id, 'the account'),
    members: members.some((one) => faultOf(one) !== undefined) ? 'Complete the members.' : undefined,
  }));
  const change = (key: number, to: Partial<Member>): void => {
    setMembers(members.map((one) => (one.key === key ? { ...one, ...to } : one)));
    form.set({});
  };
  const account = accounts?.find((one) => one.id === form.values.account_id);

  async function send(): Promise<void> {
    await ferry
      .addAccountMembers({
        account_id: form.values.account_id,
        members: members.map(({ identity, roles }) => ({ identity_id: identity, roles: [...roles] })),
      })
      .catch((error: unknown) => {
        form.refuse(error);
        throw error;
      });
    await queryClient.invalidateQueries();
    toast('Added the members.');
    go(`/accounts/${form.values.account_id}`);
  }

  return (
    <>
      <CreateFrame
        form={form}
        onReview={() => setReviewed(true)}
        aside={
          <Notes>
            <li>All members are added, or none.</li>
            <li>An identity that is a member already keeps its roles; other roles are refused.</li>
          </Notes>
        }
      >
        <FormField form={form} name="account_id" label="Account">
          {(wired) => (
            <Select
              {...wired}
              options={[
                { value: '', label: accounts === undefined ? 'Loading…' : 'Choose an account' },
                ...(accounts ?? []).map((one) => ({
                  value: one.id,
                  label: `${identityName(one.identity_id)} · ${words(one.type)} · …${one.id.slice(-6)}`,
                })),
              ]}
            />
          )}
        </FormField>
        {accounts?.length === 0 && (
          <div>
            <LinkButton to="/identities?tab=accounts" icon="plus">
              Create an account first
            </LinkButton>
          </div>
        )}
        {members.map((member, index) => (
          <div key={member.key} className="flex items-start gap-2 rounded-lg border border-line p-3">
            <div className="flex min-w-0 flex-1 flex-col gap-2">
              <Field
                label={`Member ${index + 1}`}
                error={
                  (form.errorOf('members') === undefined ? undefined : faultOf(member)) ??
                  fieldProblem(form.refused, `/members/${index}`)
                }
              >
                {(wired) => (
                  <Select
                    {...wired}
                    value={member.identity}
                    onChange={(event) => change(member.key, { identity: event.target.value })}
                    options={[
                      { value: '', label: identities === undefined ? 'Loading…' : 'Choose an identity' },
                      ...(identities ?? []).map((one) => ({ value: one.id, label: nameOf(one) })),
                    ]}
                  />
                )}
              </Field>
              <fieldset className="flex flex-wrap gap-x-4">
                <legend className="sr-only">Roles of member {index + 1}</legend>
                {ROLES.map((role) => (
                  <Checkbox
                    key={role}
                    label={words(role)}
                    checked={member.roles.includes(role)}
                    onChange={(event) =>
                      change(member.key, {
                        roles: event.target.checked
                          ? [...member.roles, role]
                          : member.roles.filter((one) => one !== role),
                      })
                    }
                  />
                ))}
              </fieldset>
            </div>
            <IconButton
              label={`Remove member ${index + 1}`}
              icon="close"
              disabled={members.length === 1}
              onClick={() => setMembers(members.filter(({ key }) => key !== member.key))}
            />
          </div>
        ))}
        <div>
          <Button
            icon="plus"
            onClick={() =>
              setMembers([
                ...members,
                { key: Math.max(...members.map((one) => one.key)) + 1, identity: '', roles: [] },
              ])
            }
          >
            Another member
          </Button>
        </div>
      </CreateFrame>
      <ConfirmDialog
        open={reviewed}
        onClose={() => setReviewed(false)}
        title="Confirm the members"
        description={account && `Of the account of ${identityName(account.identity_id)}`}
        action="Add the members"
        onConfirm={send}
      >
        <Facts
          facts={members.map(({ identity, roles }) => ({
            name: identityName(identity),
            value: roles.map(words).join(', '),
          }))}
        />
      </ConfirmDialog>
    </>
  );
}
