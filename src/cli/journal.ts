import { BOOKED_KIND_NAMES, type BookedKind, type Field, factsOf } from '../journal/kinds.ts';
import {
  type CommandLine,
  type Invocation,
  noArguments,
  show,
  table,
  text,
  UsageError,
} from './command-line.ts';
import { CREDENTIALS_HELP, callService, SERVICE_OPTIONS } from './service.ts';

/** The operator's journal. Each kind of entry is a command; its options are the fields of the kind. */

type Option = { readonly value: string; readonly help: string };
type Options = Readonly<Record<string, Option>>;

const PATH = '/v2/operator/journal-entries';

const COMMON: Options = {
  'ref-id': { value: 'id', help: 'your own id for the entry; the same id is booked once' },
  reason: { value: 'text', help: 'why, for operators only' },
  reference: { value: 'text', help: 'the evidence outside, such as the reference of the bank' },
};
const NOTE: Options = { note: { value: 'text', help: 'text for the customers concerned' } };

const OPTIONS_OF: Readonly<Record<Field, Options>> = {
  profile_id: { 'profile-id': { value: 'id', help: 'profile of any customer' } },
  asset: { asset: { value: 'code', help: 'asset, such as USD' } },
  amount: { amount: { value: 'decimal', help: 'amount' } },
  rail: { rail: { value: 'rail', help: 'rail, such as wire or BITCOIN' } },
  account: { account: { value: 'text', help: 'your own account at the bank, or an address' } },
  output: { output: { value: 'number', help: 'number of the output, on a chain' } },
  transfer_id: { 'transfer-id': { value: 'id', help: 'withdrawal' } },
  suspense_deposit_id: { 'suspense-deposit-id': { value: 'id', help: 'suspense deposit' } },
  source: { source: { value: 'account', help: 'fees or conversion' } },
  corrects: {
    'corrects-type': { value: 'type', help: 'TRANSFER, SETTLEMENT or JOURNAL_ENTRY' },
    'corrects-id': { value: 'id', help: 'what is corrected' },
    'corrects-leg-id': { value: 'id', help: 'only this leg of a settlement transaction' },
  },
  from: {
    'from-profile-id': { value: 'id', help: 'profile that the value comes from' },
    'from-account': { value: 'account', help: 'or account of the service that it comes from' },
  },
  to: {
    'to-profile-id': { value: 'id', help: 'profile that the value goes to' },
    'to-account': { value: 'account', help: 'or account of the service that it goes to' },
  },
};

const commandName = (kind: BookedKind): string => kind.toLowerCase().replaceAll('_', '-');

const given = ({ options }: Invocation, name: string): string | undefined =>
  options[name] as string | undefined;

/** `corrects-leg-id` is the field `leg_id` of `corrects`. */
function objectOf(invocation: Invocation, field: Field): object | undefined {
  const names = Object.keys(OPTIONS_OF[field]);
  const values = names
    .filter((name) => given(invocation, name) !== undefined)
    .map((name) => [name.slice(field.length + 1).replaceAll('-', '_'), given(invocation, name)]);
  return values.length === 0 ? undefined : Object.fromEntries(values);
}

function fieldValue(invocation: Invocation, field: Field): unknown {
  if (['corrects', 'from', 'to'].includes(field)) return objectOf(invocation, field);
  const value = given(invocation, field.replaceAll('_', '-'));
  if (field !== 'output' || value === undefined) return value;
  if (!/^[0-9]{1,10}$/.test(value)) throw new UsageError('--output must be a number.');
  return Number(value);
}

function commonBody(invocation: Invocation) {
  const note = given(invocation, 'note');
  return {
    ref_id: text(invocation, 'ref-id'),
    reason: text(invocation, 'reason'),
    reference: text(invocation, 'reference'),
    ...(note !== undefined && { note }),
  };
}

const usageOf = (options: Options, isOptional: boolean): string =>
  Object.entries(options)
    .map(([name, { value }]) => (isOptional ? `[--${name} <${value}>]` : `--${name} <${value}>`))
    .join(' ');

const optionsOf = (fields: readonly Field[]): Options =>
  Object.assign({}, ...fields.map((field) => OPTIONS_OF[field])) as Options;

/** An entry, or the request that waits for approval where four eyes are required. */
const bookedLine = (answer: Readonly<Record<string, unknown>>): string =>
  'quorum' in answer
    ? `Nothing is booked yet: request ${String(answer.id)} waits for the approval of somebody else.`
    : `Booked ${String(answer.kind)}: ${String(answer.id)}`;

/** A summary without Markdown, and the choice of fields in words. */
function bookCommand(kind: BookedKind): CommandLine {
  const { meaning, required, optional = [], oneOf = [] } = factsOf(kind);
  const needed = optionsOf(required);
  const allowed = { ...optionsOf([...oneOf, ...optional]), ...NOTE };
  const words = meaning.replaceAll('`', '');
  return {
    name: `journal ${commandName(kind)}`,
    summary: `book the journal entry ${kind}`,
    usage: `journal ${commandName(kind)} ${usageOf({ ...COMMON, ...needed }, false)} ${usageOf(allowed, true)} [--url <url>] [--json]`,
    details: [
      `${words.charAt(0).toUpperCase()}${words.slice(1)}.`,
      ...(oneOf.length > 0
        ? [`Exactly one of ${oneOf.map((field) => `--${field.replaceAll('_', '-')}`).join(' and ')}.`]
        : []),
      CREDENTIALS_HELP,
    ].join('\n'),
    options: { ...COMMON, ...needed, ...allowed, ...SERVICE_OPTIONS },
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const fields = [...required, ...optional, ...oneOf].map((field) => [
        field,
        fieldValue(invocation, field),
      ]);
      const body = { kind, ...commonBody(invocation), ...Object.fromEntries(fields) };
      const entry = await callService(invocation, 'POST', PATH, body);
      show(invocation, entry, bookedLine(entry));
      return 0;
    },
  };
}

function endCommand(verb: 'resolve' | 'cancel'): CommandLine {
  const outcome: Options =
    verb === 'resolve' ? { outcome: { value: 'outcome', help: 'PAID or NOT_PAID' } } : {};
  return {
    name: `journal ${verb}-withdrawal`,
    summary:
      verb === 'resolve'
        ? 'end a withdrawal whose rail cannot tell what happened'
        : 'cancel a withdrawal that was not submitted to its rail',
    usage: `journal ${verb}-withdrawal <transfer_id> ${usageOf({ ...outcome, ...COMMON }, false)} ${usageOf(NOTE, true)} [--url <url>] [--json]`,
    details: CREDENTIALS_HELP,
    options: { ...outcome, ...COMMON, ...NOTE, ...SERVICE_OPTIONS },
    json: true,
    async run(invocation) {
      const [id, extra] = invocation.positionals;
      if (id === undefined || extra !== undefined) throw new UsageError('Expected one transfer_id.');
      const body = {
        ...commonBody(invocation),
        ...(verb === 'resolve' && { outcome: text(invocation, 'outcome') }),
      };
      const path = `/v2/operator/withdrawals/${encodeURIComponent(id)}/${verb}`;
      const entry = await callService(invocation, 'POST', path, body);
      show(invocation, entry, bookedLine(entry));
      return 0;
    },
  };
}

const FILTERS: Readonly<Record<string, string>> = {
  kind: 'kinds',
  'profile-id': 'profile_ids',
  asset: 'assets',
};

type Listed = {
  readonly id: string;
  readonly kind: string;
  readonly created_at: string;
  readonly asset?: string;
  readonly amount?: string;
  readonly reference: string;
};

export const JOURNAL_COMMANDS: readonly CommandLine[] = [
  ...BOOKED_KIND_NAMES.map(bookCommand),
  endCommand('resolve'),
  endCommand('cancel'),
  {
    name: 'journal list',
    summary: 'list the latest journal entries',
    usage: 'journal list [--kind <kind>] [--profile-id <id>] [--asset <code>] [--url <url>] [--json]',
    details: CREDENTIALS_HELP,
    options: {
      kind: { value: 'kind', help: 'only entries of this kind' },
      ...OPTIONS_OF.profile_id,
      ...OPTIONS_OF.asset,
      ...SERVICE_OPTIONS,
    },
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const query = new URLSearchParams();
      for (const [option, parameter] of Object.entries(FILTERS)) {
        const value = given(invocation, option);
        if (value !== undefined) query.set(parameter, value);
      }
      const answer = await callService(invocation, 'GET', `${PATH}?${query.toString()}`);
      const rows = (answer.items as readonly Listed[]).map((one) => [
        one.id,
        one.created_at,
        one.kind,
        one.amount === undefined ? '' : `${one.amount} ${one.asset}`,
        one.reference,
      ]);
      show(invocation, answer, table([['ID', 'BOOKED', 'KIND', 'AMOUNT', 'REFERENCE'], ...rows]));
      return 0;
    },
  },
  {
    name: 'journal show',
    summary: 'print a journal entry as JSON',
    usage: 'journal show <journal_entry_id> [--url <url>] [--json]',
    details: CREDENTIALS_HELP,
    options: SERVICE_OPTIONS,
    json: true,
    async run(invocation) {
      const [id, extra] = invocation.positionals;
      if (id === undefined || extra !== undefined) throw new UsageError('Expected one journal_entry_id.');
      const entry = await callService(invocation, 'GET', `${PATH}/${encodeURIComponent(id)}`);
      invocation.print(JSON.stringify(entry, null, 2));
      return 0;
    },
  },
];
