import type { Static } from 'typebox';
import type { Address, RoutingDetails } from '../fiat-accounts/beneficiary.ts';
import { newId } from '../kernel/id.ts';
import { closed } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { BANK_LIMITS } from '../limits-banks.ts';
import { FIAT_KIND_RECORDS } from '../networks/fiat.ts';
import {
  type RailAdapter,
  type RailNode,
  type ReadContext,
  railKind,
  type SecretReference,
} from '../rails/kind.ts';
import { noticesOf } from '../rails/notice-store.ts';
import { bankBacklog } from './backlog-store.ts';
import { isDay, isTimeZone } from './calendar.ts';
import { checkBank } from './check.ts';
import type { MessageSet } from './orders.ts';
import { addressOf, agentOf, nameOf, Unpayable } from './party.ts';
import { createBankRail } from './rail.ts';
import type { BankSettings, SftpSettings } from './settings.ts';
import { openTransport } from './transport.ts';
import { createBankWorker } from './worker.ts';

const Text = Type.String({ minLength: 1, expected: 'a non-empty string' });
const A_REFERENCE = '{"env": "NAME"} or {"file": "/path"}';
/** Any value here, because the message about a wrong one would contain it: it may be the secret itself. */
const Secret = Type.Unsafe<unknown>({ expected: A_REFERENCE });
const Whole = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, expected: `an integer from ${minimum} to ${maximum}` });

const { account, details } = FIAT_KIND_RECORDS.wire.instructions;

const schema = Type.Object(
  {
    /** The operator's account, and its owner. Customers are shown it to pay to. */
    owner: Text,
    messages: Type.Optional(Type.Enum(['pain.001', 'fedwire', 'fednow'])),
    input_source: Type.Optional(Text),
    account: Type.Object({ [account.field]: account.whole, ...details }, closed),
    currency: Type.Optional(Text),
    directory: Type.Optional(Text),
    sftp: Type.Optional(
      Type.Object(
        {
          host: Text,
          port: Type.Optional(Whole(1, 65_535)),
          user: Text,
          private_key: Secret,
          passphrase: Type.Optional(Secret),
          host_key: Text,
        },
        closed,
      ),
    ),
    outgoing: Text,
    incoming: Text,
    archive: Type.Optional(Text),
    batch: Type.Optional(
      Type.Object(
        {
          payments_max: Type.Optional(Whole(1, BANK_LIMITS.filePaymentsMax)),
          seconds: Type.Optional(Whole(0, 86_400)),
        },
        closed,
      ),
    ),
    calendar: Type.Optional(
      Type.Object({ time_zone: Text, cut_off: Text, holidays: Type.Optional(Type.Array(Text)) }, closed),
    ),
    poll_seconds: Type.Optional(Whole(1, 3_600)),
    answer_within_hours: Type.Optional(Whole(1, 24 * 14)),
    initiator_id: Type.Optional(Text),
    service_level: Type.Optional(Text),
    charge_bearer: Type.Optional(Type.Enum(['DEBT', 'SHAR', 'CRED', 'SLEV'])),
    references_repeat: Type.Optional(Type.Boolean()),
    entries_without_reference: Type.Optional(Type.Enum(['ask', 'statement'])),
    rejected_files: Type.Optional(Type.Enum(['fail', 'hold'])),
  },
  closed,
);

type Entry = Static<typeof schema>;

function isReference(value: unknown): value is SecretReference {
  if (value === null || typeof value !== 'object') return false;
  const [[name, text] = [], ...others] = Object.entries(value);
  return (
    others.length === 0 && (name === 'env' || name === 'file') && typeof text === 'string' && text !== ''
  );
}

function readSftp(entry: NonNullable<Entry['sftp']>, { path, secret }: ReadContext): SftpSettings {
  const secretAt = (reference: unknown, name: string): string => {
    if (!isReference(reference))
      throw new Error(
        `${path}.sftp.${name} must be ${A_REFERENCE}: the secret itself does not stand in the file`,
      );
    return secret(reference, `${path}.sftp.${name}`);
  };
  if (!/^SHA256:[A-Za-z0-9+/]{43}$/.test(entry.host_key))
    throw new Error(
      `${path}.sftp.host_key must be SHA256: and 43 characters, as printed by: ssh-keyscan ${entry.host} | ssh-keygen -lf -`,
    );
  return {
    host: entry.host,
    port: entry.port ?? 22,
    user: entry.user,
    privateKey: `${secretAt(entry.private_key, 'private_key').trim()}\n`,
    passphrase: entry.passphrase === undefined ? undefined : secretAt(entry.passphrase, 'passphrase'),
    hostKey: entry.host_key,
  };
}

function readPlace(entry: Entry, context: ReadContext): BankSettings['place'] {
  const { directory, sftp } = entry;
  if ((directory === undefined) === (sftp === undefined))
    throw new Error(`${context.path} must have either directory or sftp`);
  return sftp === undefined ? { directory: directory! } : { sftp: readSftp(sftp, context) };
}

/** Until when each takes payments for the same day, in New York: banks by their own rule, Fedwire third parties, FedNow its day. */
const CUT_OFFS: Readonly<Record<MessageSet, string>> = {
  'pain.001': '17:00',
  fedwire: '18:45',
  fednow: '19:00',
};

function readCalendar(
  entry: Entry['calendar'],
  messages: MessageSet,
  path: string,
): BankSettings['calendar'] {
  const {
    time_zone: timeZone,
    cut_off: cutOff,
    holidays = [],
  } = entry ?? { time_zone: 'America/New_York', cut_off: CUT_OFFS[messages] };
  if (!isTimeZone(timeZone))
    throw new Error(`${path}.calendar.time_zone must be a name such as America/New_York, not "${timeZone}"`);
  if (!/^([01]\d|2[0-3]):[0-5]\d$/.test(cutOff))
    throw new Error(`${path}.calendar.cut_off must be a time such as 17:00, not "${cutOff}"`);
  const wrong = holidays.find((day) => !isDay(day));
  if (wrong !== undefined)
    throw new Error(`${path}.calendar.holidays must be days such as 2026-12-25, not "${wrong}"`);
  return { timeZone, cutOff, holidays: new Set(holidays), isEveryDay: messages === 'fednow' };
}

/** The operator as a party of payments: the same rules hold as for those who are paid. */
function readDebtor(entry: Entry, path: string): BankSettings['debtor'] {
  const fields = entry.account as unknown as {
    account_number: string;
    routing_details: RoutingDetails;
    fiat_account_owner_address: Address;
  };
  try {
    return {
      party: {
        name: nameOf(entry.owner, 'The owner'),
        address: addressOf(fields.fiat_account_owner_address, 'the owner'),
      },
      account: fields.account_number,
      agent: agentOf(fields.routing_details, 'the bank'),
      initiatorId: entry.initiator_id,
      serviceLevel: entry.service_level,
      chargeBearer: entry.charge_bearer ?? (messagesOf(entry) === 'pain.001' ? 'SHAR' : 'SLEV'),
    };
  } catch (error) {
    if (error instanceof Unpayable)
      throw new Error(`${path}.account cannot be used: ${error.message}`, { cause: error });
    throw error;
  }
}

const messagesOf = ({ messages }: Entry): MessageSet => messages ?? 'pain.001';

/** What holds for banks that send payments themselves, over a network of the Federal Reserve. */
function checkMessages(entry: Entry, path: string): void {
  const messages = messagesOf(entry);
  const { routing_details: bank } = entry.account as unknown as { routing_details: RoutingDetails };
  const { input_source: source, initiator_id, service_level, charge_bearer: bearer, batch } = entry;
  const is = `is "${messages}"`;
  if (messages === 'fedwire' && !/^[A-Z0-9]{8}$/.test(source ?? ''))
    throw new Error(
      `${path}.input_source must be the 8 characters that the Federal Reserve Bank has given you, because messages ${is}`,
    );
  if (messages !== 'fedwire' && source !== undefined)
    throw new Error(`${path}.input_source must be left out, because messages ${is}`);
  if (messages === 'pain.001') return;
  if (bank.routing_number_type !== 'ABA')
    throw new Error(
      `${path}.account.routing_details must have the ABA number of your bank, because messages ${is}`,
    );
  if ((entry.currency ?? 'USD') !== 'USD')
    throw new Error(`${path}.currency must be USD, because messages ${is}`);
  if (initiator_id !== undefined || service_level !== undefined)
    throw new Error(`${path}.initiator_id and service_level must be left out, because messages ${is}`);
  if ((batch?.payments_max ?? 1) !== 1)
    throw new Error(`${path}.batch.payments_max must be 1, because messages ${is}: each has one payment`);
  if (messages === 'fednow' && (bearer ?? 'SLEV') !== 'SLEV')
    throw new Error(`${path}.charge_bearer must be SLEV, because messages ${is}`);
}

export function readBankSettings(entry: Entry, context: ReadContext): BankSettings {
  const { path, assets, networks, rail } = context;
  if (!networks.isFiatKind(rail)) throw new Error(`${path} must be a rail of banks`);
  const code = entry.currency ?? 'USD';
  const currency = assets.find(code);
  if (currency?.kind !== 'FIAT' || !/^[A-Z]{3}$/.test(code))
    throw new Error(`${path}.currency must be a configured currency of three letters, not "${code}"`);
  checkMessages(entry, path);
  const messages = messagesOf(entry);
  const isBatched = messages === 'pain.001';
  return {
    rail,
    messages,
    inputSource: entry.input_source,
    debtor: readDebtor(entry, path),
    currency,
    instructions: entry.account,
    place: readPlace(entry, context),
    outgoing: entry.outgoing,
    incoming: entry.incoming,
    archive: entry.archive,
    batchPaymentsMax: isBatched ? (entry.batch?.payments_max ?? BANK_LIMITS.filePaymentsDefault) : 1,
    batchMs: (entry.batch?.seconds ?? (isBatched ? 900 : 0)) * 1_000,
    pollMs: (entry.poll_seconds ?? 60) * 1_000,
    answerWithinMs: (entry.answer_within_hours ?? 24) * 3_600_000,
    calendar: readCalendar(entry.calendar, messages, path),
    referencesRepeat: entry.references_repeat ?? false,
    withoutReference: entry.entries_without_reference ?? 'ask',
    rejectedFiles: entry.rejected_files ?? 'fail',
  };
}

async function openBank(settings: BankSettings, node: RailNode): Promise<RailAdapter> {
  const { rail: name } = settings;
  const { database, clock, log } = node;
  const transport = await openTransport(settings.place);
  const lease = { rail: name, holder: newId() };
  const { leaseMs } = BANK_LIMITS;
  return {
    rail: createBankRail({ settings, database, clock }),
    notices: noticesOf(database, name),
    backlogs: [bankBacklog(database, name)],
    workers: [createBankWorker({ settings, database, clock, transport, lease, leaseMs, log })],
  };
}

/**
 * Files of ISO 20022 that are exchanged with a bank: pain.001 out, pain.002, camt.054 and camt.053 in. Operators who are banks
 * send pacs.008 over Fedwire or FedNow, and take pacs.002, pacs.004 and pacs.008 as well. See docs/banks.md.
 */
export const ISO20022 = railKind({
  name: 'iso20022',
  serves: (rail) => rail === 'wire',
  schema,
  read: readBankSettings,
  open: openBank,
  check: (settings: BankSettings) => checkBank(settings),
});
