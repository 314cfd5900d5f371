/** The kinds of journal entries, and the fields of each: one table for validation, documentation and the command line. */

export type Field =
  | 'profile_id'
  | 'asset'
  | 'amount'
  | 'rail'
  | 'account'
  | 'output'
  | 'transfer_id'
  | 'suspense_deposit_id'
  | 'source'
  | 'corrects'
  | 'from'
  | 'to';

type KindFacts = {
  readonly meaning: string;
  readonly required: readonly Field[];
  readonly optional?: readonly Field[];
  /** Exactly one of these. */
  readonly oneOf?: readonly Field[];
};

/** Booked with `POST /v2/operator/journal-entries`. */
export const BOOKED_KINDS = {
  OPENING_BALANCE: {
    meaning: 'value that is outside already, credited to a profile: `clearing:<rail>` to the profile',
    required: ['profile_id', 'asset', 'amount', 'rail', 'account'],
    optional: ['output'],
  },
  MANUAL_DEPOSIT: {
    meaning:
      'a deposit that no rail reported, credited as a deposit transfer: `clearing:<rail>` to the profile',
    required: ['profile_id', 'asset', 'amount', 'rail', 'account'],
    optional: ['output'],
  },
  TREASURY_FUNDING: {
    meaning: "the operator's own money that arrived: `clearing:<rail>` to `treasury`",
    required: ['asset', 'amount', 'rail', 'account'],
    optional: ['output'],
  },
  TREASURY_PAYOUT: {
    meaning: "money paid out to the operator's own account: `treasury` to `clearing:<rail>`",
    required: ['asset', 'amount', 'rail'],
    optional: ['account'],
  },
  SWEEP: {
    meaning:
      '`fees` or `conversion` (`source`) to `treasury`: the amount, or all; a negative `conversion` is refilled',
    required: ['source', 'asset'],
    optional: ['amount'],
  },
  WRITE_OFF: {
    meaning: 'the remainder of a profile to `treasury`, or a loss on a rail: `treasury` to `clearing:<rail>`',
    required: ['asset', 'amount'],
    oneOf: ['profile_id', 'rail'],
  },
  SUSPENSE_CREDIT: {
    meaning: 'a deposit in suspense, credited to a profile as a deposit transfer',
    required: ['suspense_deposit_id', 'profile_id'],
  },
  SUSPENSE_RETURN: {
    meaning: 'a deposit in suspense that was paid back to its sender: `suspense` to `clearing:<rail>`',
    required: ['suspense_deposit_id'],
    optional: ['account'],
  },
  WITHDRAWAL_RETURN: {
    meaning: 'money that came back after a withdrawal was COMPLETED: `clearing:<rail>` to the profile',
    required: ['transfer_id', 'asset', 'amount', 'account'],
    optional: ['output'],
  },
  CORRECTION: {
    meaning: 'a difference in what `corrects` names, moved `from` an account `to` another',
    required: ['corrects', 'asset', 'amount', 'from', 'to'],
  },
  REVERSAL: {
    meaning: 'the exact opposite of what `corrects` names, at most once',
    required: ['corrects'],
  },
} as const satisfies Readonly<Record<string, KindFacts>>;

export type BookedKind = keyof typeof BOOKED_KINDS;

export const factsOf = (kind: BookedKind): KindFacts => BOOKED_KINDS[kind];

export const BOOKED_KIND_NAMES = Object.keys(BOOKED_KINDS) as readonly BookedKind[];

/** Made by operations of their own. */
const ENDING_KINDS = ['WITHDRAWAL_RESOLUTION', 'WITHDRAWAL_CANCELLATION'] as const;

export const JOURNAL_KINDS = [...BOOKED_KIND_NAMES, ...ENDING_KINDS];
export type JournalKind = (typeof JOURNAL_KINDS)[number];

/** One line for each kind, for the API reference. */
export function kindsInWords(): string {
  return BOOKED_KIND_NAMES.map((kind) => {
    const { meaning, required, optional = [], oneOf = [] } = factsOf(kind);
    const fields = [
      ...required.map((field) => `\`${field}\``),
      ...(oneOf.length > 0 ? [oneOf.map((field) => `\`${field}\``).join(' or ')] : []),
      ...optional.map((field) => `\`${field}\` (optional)`),
    ];
    return `- \`${kind}\`: ${meaning}. Fields: ${fields.join(', ')}.`;
  }).join('\n');
}
