import type { KINDS } from './filters.ts';

export type Kind = (typeof KINDS)[number];
export type FieldName =
  | 'profile_id'
  | 'asset'
  | 'amount'
  | 'rail'
  | 'account'
  | 'transfer_id'
  | 'suspense_deposit_id'
  | 'source'
  | 'corrects_type'
  | 'corrects_id'
  | 'from'
  | 'to';

/** What each kind moves, and the fields that it has; those with a question mark may be empty. */
export const MEANINGS: Readonly<Record<Kind, readonly [meaning: string, fields: readonly string[]]>> = {
  OPENING_BALANCE: [
    'Value that is outside already is credited to a profile: from clearing of the rail to the profile.',
    ['profile_id', 'asset', 'amount', 'rail', 'account'],
  ],
  MANUAL_DEPOSIT: [
    'A deposit that no rail reported is credited as a deposit: from clearing of the rail to the profile.',
    ['profile_id', 'asset', 'amount', 'rail', 'account'],
  ],
  TREASURY_FUNDING: [
    'The operator’s own money has arrived: from clearing of the rail to treasury.',
    ['asset', 'amount', 'rail', 'account'],
  ],
  TREASURY_PAYOUT: [
    'Money was paid to the operator’s own account: from treasury to clearing of the rail.',
    ['asset', 'amount', 'rail', 'account?'],
  ],
  SWEEP: ['Fees or conversion go to treasury: the amount, or all of it.', ['source', 'asset', 'amount?']],
  WRITE_OFF: [
    'The remainder of a profile goes to treasury, or a loss on a rail is taken from it. Give a profile or a rail.',
    ['asset', 'amount', 'profile_id?', 'rail?'],
  ],
  SUSPENSE_CREDIT: ['A deposit in suspense is credited to a profile.', ['suspense_deposit_id', 'profile_id']],
  SUSPENSE_RETURN: [
    'A deposit in suspense was paid back to its sender.',
    ['suspense_deposit_id', 'account?'],
  ],
  WITHDRAWAL_RETURN: [
    'Money came back after a withdrawal was completed: from clearing of the rail to the profile.',
    ['transfer_id', 'asset', 'amount', 'account'],
  ],
  CORRECTION: [
    'A difference in what is corrected moves from one account to another.',
    ['corrects_type', 'corrects_id', 'asset', 'amount', 'from', 'to'],
  ],
  REVERSAL: ['The exact opposite of what is corrected, at most once.', ['corrects_type', 'corrects_id']],
};

export const LABELS: Readonly<Record<FieldName, readonly [label: string, hint?: string]>> = {
  profile_id: ['Profile', 'Of any customer'],
  asset: ['Asset', 'Such as USD'],
  amount: ['Amount'],
  rail: ['Rail', 'Such as wire or BITCOIN'],
  account: ['Account at the bank, or address', 'The operator’s own'],
  transfer_id: ['Withdrawal'],
  suspense_deposit_id: ['Deposit in suspense'],
  source: ['From'],
  corrects_type: ['What it corrects'],
  corrects_id: ['Its id'],
  from: ['From', 'The id of a profile, or an account such as treasury or clearing:wire'],
  to: ['To', 'The id of a profile, or an account such as treasury or clearing:wire'],
};

export const CHOICES: Readonly<Partial<Record<FieldName, readonly string[]>>> = {
  source: ['fees', 'conversion'],
  corrects_type: ['TRANSFER', 'SETTLEMENT', 'JOURNAL_ENTRY'],
};

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const sideOf = (text: string) => (UUID.test(text) ? { profile_id: text } : { account: text });

/** The fields of the request; those that are empty are left out. */
export function requestOf(kind: Kind, texts: Readonly<Record<string, string>>): object {
  const given: Record<string, string> = Object.fromEntries(
    MEANINGS[kind][1]
      .map((name) => name.replace('?', ''))
      .map((name) => [name, (texts[name] ?? '').trim()])
      .filter(([, value]) => value !== ''),
  );
  const { corrects_type: type, corrects_id: id, from, to, ...rest } = given;
  return {
    kind,
    ...rest,
    ...(type !== undefined && id !== undefined && { corrects: { type, id } }),
    ...(from !== undefined && { from: sideOf(from) }),
    ...(to !== undefined && { to: sideOf(to) }),
  };
}
