import type { components } from '@ferry/client';

export type Approval = components['schemas']['Approval'];

const POLICY =
  'The policy gets a new version, which decides about withdrawals that are requested from then on. Those that wait keep the decision of the version before.';
const RELEASE = 'The withdrawal is handed to its rail, unless something else holds it.';
const REFUSE = 'The withdrawal fails, and its total returns to the profile.';
const PERSON =
  'The person is added with the roles below. The maker gets a link with which the person enrols.';
const CHANGE =
  'What is below replaces what the person has: the name, the roles at once in all sessions, or the account at the OpenID provider to sign in with.';
const LINK =
  'The maker gets a link: the first who opens it registers a passkey, and is the person from then on. If removes_passkeys is true, the present passkeys and sessions end at once.';

/** What each action does to the world, in a sentence. */
export const EFFECTS: Readonly<Record<Approval['action'], string>> = {
  'journal_entry.book':
    'Value moves on the books, as the fields below say. The owners of profiles whose balances change get events.',
  'withdrawal.resolve':
    'The withdrawal ends, and nothing is sent to the rail any more. PAID: it is completed. NOT_PAID: it fails, and its total returns to the profile.',
  'withdrawal.cancel':
    'The withdrawal fails, and its total returns to the profile. Refused if its rail may have received it.',
  'suspense_deposit.credit':
    'The deposit leaves suspense and is credited to the profile. Its owner gets events.',
  'fiat_account.approve':
    'Withdrawals to the account are paid from then on, as are those that wait for its review. Refused if the account has changed since it was viewed.',
  'fiat_account.reject':
    'The account cannot be used until its owner changes it. Withdrawals that wait for it fail, and their totals return.',
  'withdrawal.release': RELEASE,
  'withdrawal.refuse': REFUSE,
  'own_withdrawal.release': RELEASE,
  'own_withdrawal.refuse': REFUSE,
  'policy.change': POLICY,
  'own_policy.change': POLICY,
  'own_destination.list':
    'Withdrawals to the destination pass policies for listed destinations only, after their cooling-off time.',
  'freeze.create':
    'No value of what is frozen moves any more. Deposits are credited, and cannot be used. Payments that a rail has already go on.',
  'freeze.lift': 'What waited because of the freeze goes on, unless another freeze stops it.',
  'client.create':
    'The client can get tokens with these scopes, with the keys below, or with a secret that the maker gets.',
  'client.change':
    'What is below replaces what the client has. Scopes that are gone, and other addresses, are refused within seconds, with present tokens as well; new scopes need a new token.',
  'client.disable': 'The client gets no more tokens, and those that it has are refused within seconds.',
  'client.enable': 'The client can get tokens again, with the scopes and credentials that it had.',
  'client.add_credentials':
    'The client can also authenticate with the keys below, or with a secret that the maker gets.',
  'client.remove_credential':
    'The client can no longer authenticate with the credential. Tokens that it got with it stay valid until they expire.',
  'person.create': PERSON,
  'person.change': CHANGE,
  'person.link': LINK,
  'own_person.create': PERSON,
  'own_person.change': CHANGE,
  'own_person.link': LINK,
};
