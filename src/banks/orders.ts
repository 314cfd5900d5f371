import type { Asset } from '../kernel/asset.ts';
import { BANK_LIMITS } from '../limits-banks.ts';
import type { Payment } from '../rails/rail.ts';
import { type CreditTransfer, creditTransferOf } from './credit-transfer.ts';
import { plainId } from './ids.ts';
import { pacs008Of } from './pacs008.ts';
import { type Debtor, type PaymentFile, pain001Of } from './pain001.ts';
import { Unpayable } from './party.ts';

/** The messages with which payments leave: orders to a bank, or payments of a bank over a network of the Federal Reserve. */
export type MessageSet = 'pain.001' | 'fedwire' | 'fednow';

export type FedNetwork = Exclude<MessageSet, 'pain.001'>;

/** What the networks of the Federal Reserve require, beyond the schema of pacs.008. */
export type FedRules = {
  readonly title: string;
  /** Code of the clearing system that settles. */
  readonly clearingSystem: string;
  readonly localInstrument: string;
  readonly categoryPurpose: string | undefined;
  readonly unitsMax: bigint;
  /** Whether the receiving bank may be another one than that of the payee. */
  readonly hasIntermediaries: boolean;
  /** An address must have a postal code and a state, or be left out. */
  readonly needsWholeAddress: boolean;
  /** Other currencies exist, so the amount that was ordered stands beside the one that is settled. */
  readonly hasInstructedAmount: boolean;
  /** A message that arrives is only an offer: the credit counts once a status says that it has settled. */
  readonly announcesCredits: boolean;
};

export const FED_RULES: Readonly<Record<FedNetwork, FedRules>> = {
  fedwire: {
    title: 'Fedwire',
    clearingSystem: 'FDW',
    // Customer transfer.
    localInstrument: 'CTRC',
    categoryPurpose: undefined,
    unitsMax: BANK_LIMITS.fedwireUnitsMax,
    hasIntermediaries: true,
    needsWholeAddress: false,
    hasInstructedAmount: true,
    announcesCredits: false,
  },
  fednow: {
    title: 'FedNow',
    clearingSystem: 'FDN',
    localInstrument: 'FDNA',
    // The operator pays, and is a business.
    categoryPurpose: 'BIZZ',
    unitsMax: BANK_LIMITS.fednowUnitsMax,
    hasIntermediaries: false,
    needsWholeAddress: true,
    hasInstructedAmount: false,
    announcesCredits: true,
  },
};

export type OrderSettings = {
  readonly messages: MessageSet;
  readonly debtor: Debtor;
  readonly currency: Asset;
};

function checkFed(transfer: CreditTransfer, { title, unitsMax, hasIntermediaries }: FedRules): void {
  const { units, creditorAgent, intermediary } = transfer;
  if (units > unitsMax) throw new Unpayable(`The amount is larger than ${title} accepts.`);
  if (intermediary !== undefined && !hasIntermediaries)
    throw new Unpayable(`${title} pays the bank of the payee directly: there must be no intermediary bank.`);
  if (!('aba' in (intermediary ?? creditorAgent)))
    throw new Unpayable(
      hasIntermediaries
        ? `${title} reaches banks by their ABA number: the bank, or an intermediary bank, must have one.`
        : `${title} reaches banks by their ABA number: the bank must have one.`,
    );
}

/** Throws Unpayable, whose sentence customers are shown, if the network would refuse the message. */
export function payableOf(
  payment: Payment,
  settings: Pick<OrderSettings, 'messages' | 'currency'>,
): CreditTransfer {
  const { messages, currency } = settings;
  const transfer = creditTransferOf(payment, currency.code);
  if (messages !== 'pain.001') checkFed(transfer, FED_RULES[messages]);
  return transfer;
}

/** The message of a file. The same file always makes the same text. */
export const orderText = (file: PaymentFile, { messages, debtor, currency }: OrderSettings): string =>
  messages === 'pain.001'
    ? pain001Of(file, debtor, currency)
    : pacs008Of(file, debtor, currency, FED_RULES[messages]);

export const fileNameOf = (id: string, messages: MessageSet): string =>
  `${messages === 'pain.001' ? 'pain001' : 'pacs008'}-${plainId(id)}.xml`;

/** What the id of a message starts with; Fedwire counts the messages of a day and an input source after it. */
export const fedwirePrefix = (date: string, inputSource: string): string =>
  `${date.replaceAll('-', '')}${inputSource}`;

export const FEDWIRE_NUMBERS = 6;

/** FedNow: the day, the sender's ABA number, and up to 18 characters that no other message of the day has. */
export function fednowMessageId(id: string, date: string, debtor: Debtor): string {
  const { agent } = debtor;
  if (!('aba' in agent)) throw new Error('a sender on FedNow must have an ABA number');
  return `${date.replaceAll('-', '')}${agent.aba}${plainId(id).slice(-18)}`;
}
