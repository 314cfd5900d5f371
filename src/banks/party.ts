import { validateIBAN } from 'ibantools';
import { type Address, countryCode, type RoutingDetails } from '../fiat-accounts/beneficiary.ts';
import type { XmlElement } from '../kernel/xml.ts';
import { lostLetters, networkText } from '../networks/text.ts';

/** Parties, accounts and banks as elements of ISO 20022, and why one cannot be written. */

export type BankAddress = {
  readonly street?: string;
  readonly line?: string;
  readonly postCode?: string;
  readonly town: string;
  readonly province?: string;
  readonly country: string;
};

export type Party = { readonly name: string; readonly address: BankAddress | undefined };
export type Agent =
  | { readonly bic: string }
  | { readonly aba: string; readonly name: string; readonly address: BankAddress | undefined };

/** A payment that cannot be written as a message. Its message is a sentence that customers are shown. */
export class Unpayable extends Error {}

/** The longest texts of ISO 20022 for each field. */
const LENGTHS = { name: 140, street: 70, line: 70, town: 35, province: 35, postCode: 16 };

/** What the network accepts of a text, whole: nothing is cut off. Empty for an empty text. */
function fieldOf(text: string | undefined, max: number, what: string): string {
  const accepted = networkText(text ?? '');
  if (accepted.length > max)
    throw new Unpayable(`${what} has ${accepted.length} characters as banks write it; at most ${max} fit.`);
  return accepted;
}

/** The name decides who is paid, so none of its letters may be lost. */
export function nameOf(name: string, what: string): string {
  const lost = lostLetters(name);
  if (lost.length > 0)
    throw new Unpayable(
      `${what} has letters that the payment network does not have: ${lost.slice(0, 5).join(' ')}. Spell it in Latin letters.`,
    );
  const accepted = fieldOf(name, LENGTHS.name, what);
  if (!/[A-Za-z0-9]/.test(accepted)) throw new Unpayable(`${what} has no letters.`);
  return accepted;
}

/** Networks refuse an address whose town or country is not in a field of its own. */
export function addressOf(address: Address, what: string): BankAddress {
  const country = countryCode(address.country);
  if (country === undefined) throw new Unpayable(`The country of ${what} must be an ISO 3166 code.`);
  const town = fieldOf(address.city, LENGTHS.town, `The city of ${what}`);
  if (!/[A-Za-z0-9]/.test(town))
    throw new Unpayable(`The city of ${what} is missing, or has none of the letters of the network.`);
  const street = fieldOf(address.address1, LENGTHS.street, `address1 of ${what}`);
  const line = fieldOf(address.address2, LENGTHS.line, `address2 of ${what}`);
  const postCode = fieldOf(address.zip_code, LENGTHS.postCode, `The postal code of ${what}`);
  const province = fieldOf(address.province, LENGTHS.province, `The province of ${what}`);
  return {
    ...(street && { street }),
    ...(line && { line }),
    ...(postCode && { postCode }),
    town,
    ...(province && { province }),
    country,
  };
}

export function agentOf(details: RoutingDetails, what: string): Agent {
  const { routing_number_type: type, routing_number: number, bank_name, bank_address } = details;
  if (type === 'SWIFT') return { bic: number };
  // The number says which bank it is; its name and address are for people, and are left out if they do not fit.
  const hasTown = networkText(bank_address.city ?? '') !== '';
  return {
    aba: number,
    name: nameOf(bank_name, `The name of ${what}`),
    address: hasTown ? addressOf(bank_address, what) : undefined,
  };
}

/** In the order of the schema: PostalAddress24. */
export function addressElement(address: BankAddress): XmlElement {
  const { street, postCode, town, province, country, line } = address;
  return [
    'PstlAdr',
    [
      street === undefined ? undefined : ['StrtNm', street],
      postCode === undefined ? undefined : ['PstCd', postCode],
      ['TwnNm', town],
      province === undefined ? undefined : ['CtrySubDvsn', province],
      ['Ctry', country],
      line === undefined ? undefined : ['AdrLine', line],
    ],
  ];
}

export const partyElement = (name: string, { name: text, address }: Party): XmlElement => [
  name,
  [['Nm', text], address === undefined ? undefined : addressElement(address)],
];

/** A bank by its ABA number. */
export const memberElement = (aba: string): XmlElement => [
  'ClrSysMmbId',
  [
    ['ClrSysId', [['Cd', 'USABA']]],
    ['MmbId', aba],
  ],
];

export function agentElement(name: string, agent: Agent): XmlElement {
  if ('bic' in agent) return [name, [['FinInstnId', [['BICFI', agent.bic]]]]];
  const address = agent.address === undefined ? undefined : addressElement(agent.address);
  return [name, [['FinInstnId', [memberElement(agent.aba), ['Nm', agent.name], address]]]];
}

export function accountElement(name: string, number: string, currency?: string): XmlElement {
  const plain = number.replaceAll(/\s/g, '').toUpperCase();
  const id: XmlElement = validateIBAN(plain).valid
    ? ['IBAN', plain]
    : ['Othr', [['Id', number.replaceAll(/\s/g, '')]]];
  return [name, [['Id', [id]], currency === undefined ? undefined : ['Ccy', currency]]];
}
