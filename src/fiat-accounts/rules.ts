import { ValidationErrorsBIC, ValidationErrorsIBAN, validateBIC, validateIBAN } from 'ibantools';
import { type FieldError, Problem } from '../kernel/problem.ts';
import { countryCode } from './countries.ts';
import type {
  Address,
  FiatAccount,
  FiatAccountOwner,
  FiatAccountStatus,
  FiatKind,
  FiatNetworkInstructions,
  Networks,
  RoutingDetails,
} from './fiat-account.ts';

/** Checks that a schema cannot express. Messages never repeat an account or routing number. */

/**
 * ISO 9362: the first four characters may have digits, and all letters are upper case. ibantools refuses the former and
 * accepts lower case, so the shape is checked here.
 */
const BIC = /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/;
const ABA = /^[0-9]{9}$/;

export function ownerFaults(owner: FiatAccountOwner, pointer: string): FieldError[] {
  const forms = [owner.person_details, owner.institution_details].filter((form) => form !== undefined);
  if (forms.length === 1) return [];
  return [{ pointer, message: 'must have exactly one of person_details, institution_details' }];
}

/** Fields that some kinds of instructions have. They are checked in the same way, whatever the kind. */
type BankFields = {
  readonly account_number?: string;
  readonly routing_details?: RoutingDetails;
  readonly intermediary_routing_details?: RoutingDetails;
  readonly fiat_account_owner_address?: Address;
};

function bankFields(fields: object): BankFields {
  return fields;
}

export function instructionsFaults(
  instructions: FiatNetworkInstructions,
  pointer: string,
  { fiatKinds }: Networks,
): FieldError[] {
  const faults: FieldError[] = [];
  const present = fiatKinds.filter((kind) => instructions[kind] !== undefined);
  if (present.length !== 1) {
    faults.push({ pointer, message: `must have exactly one of ${fiatKinds.join(', ')}` });
  }
  for (const kind of present) {
    const fields = bankFields(instructions[kind]!);
    for (const name of ['routing_details', 'intermediary_routing_details'] as const) {
      const details = fields[name];
      if (details !== undefined) {
        faults.push(...routingFaults(details, `${pointer}/${kind}/${name}/routing_number`));
      }
    }
  }
  return faults;
}

function routingFaults(details: RoutingDetails, pointer: string): FieldError[] {
  if (details.routing_number_type === 'ABA') {
    return ABA.test(details.routing_number)
      ? []
      : [{ pointer, message: 'must have nine digits when routing_number_type is ABA' }];
  }
  return BIC.test(details.routing_number)
    ? []
    : [
        {
          pointer,
          message: 'must be a BIC of 8 or 11 characters (ISO 9362) when routing_number_type is SWIFT',
        },
      ];
}

export function kindOf(instructions: FiatNetworkInstructions, { fiatKinds }: Networks): FiatKind {
  return fiatKinds.find((kind) => instructions[kind] !== undefined)!;
}

/** REJECT: certainly wrong. ASK: unusual or incomplete; an operator has to decide. */
export type Finding = { readonly verdict: 'REJECT' | 'ASK'; readonly reason: string };

/** The automatic checks. Empty: all of them pass. */
export function findingsOf(
  account: Pick<FiatAccount, 'fiatAccountOwner' | 'fiatNetworkInstructions'>,
): Finding[] {
  const findings = nameFindings(account.fiatAccountOwner);
  for (const fields of Object.values(account.fiatNetworkInstructions)) {
    findings.push(...bankFieldFindings(bankFields(fields)));
  }
  return findings;
}

function bankFieldFindings(fields: BankFields): Finding[] {
  const { account_number: number, routing_details: bank, intermediary_routing_details: between } = fields;
  const findings: Finding[] = [];
  if (bank !== undefined) findings.push(...bankFindings(bank, 'the bank'));
  if (number !== undefined && bank?.routing_number_type === 'SWIFT') findings.push(...ibanFindings(number));
  if (between !== undefined) findings.push(...bankFindings(between, 'the intermediary bank'));
  const { fiat_account_owner_address: address } = fields;
  if (address !== undefined) findings.push(...addressFindings(address));
  return findings;
}

function ask(reason: string): Finding {
  return { verdict: 'ASK', reason };
}

function reject(reason: string): Finding {
  return { verdict: 'REJECT', reason };
}

function nameFindings({
  person_details: person,
  institution_details: institution,
}: FiatAccountOwner): Finding[] {
  const names = person === undefined ? [institution?.name ?? ''] : [person.first_name, person.last_name];
  // The name of an institution may have digits instead of letters.
  const complete = person === undefined ? /[\p{L}\p{N}]/u : /\p{L}/u;
  return names.every((name) => complete.test(name)) ? [] : [ask('The name of the owner has no letters.')];
}

/** Payment rules require the address of the payee: at least the street and the city. */
function addressFindings(address: Address): Finding[] {
  const findings: Finding[] = [];
  const missing = (['address1', 'city'] as const).filter((name) => (address[name] ?? '').trim() === '');
  if (missing.length > 0) {
    findings.push(ask(`The address of the owner is incomplete: ${missing.join(' and ')} missing.`));
  }
  if (countryCode(address.country) === undefined) {
    findings.push(ask('The country of the owner is not an ISO 3166 code.'));
  }
  return findings;
}

function bankFindings(details: RoutingDetails, bank: string): Finding[] {
  const findings =
    details.routing_number_type === 'ABA' ? abaFindings(details, bank) : bicFindings(details, bank);
  if (countryCode(details.bank_address.country) === undefined) {
    findings.push(ask(`The country of ${bank} is not an ISO 3166 code.`));
  }
  return findings;
}

/** The United States and the territories whose banks have ABA numbers too. */
const ABA_COUNTRIES = new Set(['US', 'AS', 'GU', 'MP', 'PR', 'VI', 'FM', 'MH', 'PW']);

function abaFindings(
  { routing_number: number, bank_address: address }: RoutingDetails,
  bank: string,
): Finding[] {
  const findings: Finding[] = [];
  if (!abaChecks(number)) findings.push(reject(`The ABA routing number of ${bank} fails its check digit.`));
  else if (!isIssuedPrefix(Number(number.slice(0, 2)))) {
    findings.push(
      reject(`The ABA routing number of ${bank} begins with digits that are not issued to banks.`),
    );
  }
  const country = countryCode(address.country);
  if (country !== undefined && !ABA_COUNTRIES.has(country)) {
    findings.push(
      reject(`An ABA routing number is for banks in the United States, but ${bank} is in ${country}.`),
    );
  }
  return findings;
}

/** Weights 3, 7, 1 repeated; the sum is a multiple of ten. */
export function abaChecks(number: string): boolean {
  const sum = Array.from(number, Number).reduce((total, digit, at) => total + digit * [3, 7, 1][at % 3]!, 0);
  return sum % 10 === 0;
}

/** Federal Reserve districts, thrift institutions, electronic numbers, traveler's cheques. 00 is the Treasury's own. */
function isIssuedPrefix(prefix: number): boolean {
  return (
    (prefix >= 1 && prefix <= 12) ||
    (prefix >= 21 && prefix <= 32) ||
    (prefix >= 61 && prefix <= 72) ||
    prefix === 80
  );
}

function bicFindings(
  { routing_number: bic, bank_address: address }: RoutingDetails,
  bank: string,
): Finding[] {
  const code = bic.slice(4, 6);
  if (validateBIC(bic).errorCodes.includes(ValidationErrorsBIC.NoBICCountry))
    return [reject(`The BIC of ${bank} names the country ${code}, which does not exist.`)];
  const country = countryCode(address.country);
  if (country === undefined || country === code) return [];
  return [ask(`The BIC of ${bank} names ${code}, but its address is in ${country}.`)];
}

/** An account number with one of these errors is not an IBAN, and may be valid: not every country has IBANs. */
const NOT_AN_IBAN = [
  ValidationErrorsIBAN.NoIBANCountry,
  ValidationErrorsIBAN.WrongBBANLength,
  ValidationErrorsIBAN.WrongBBANFormat,
  ValidationErrorsIBAN.ChecksumNotNumber,
];

/** A number with the country, the length and the format of an IBAN is one; wrong check digits are a typing error. */
function ibanFindings(accountNumber: string): Finding[] {
  const { errorCodes } = validateIBAN(accountNumber.toUpperCase());
  if (errorCodes.some((code) => NOT_AN_IBAN.includes(code))) return [];
  if (!errorCodes.includes(ValidationErrorsIBAN.WrongIBANChecksum)) return [];
  return [reject('The account number is an IBAN whose check digits are wrong.')];
}

export type Review = { readonly status: 'APPROVED' | 'REJECTED'; readonly reason: string };

/**
 * The outcome of the automatic review; undefined when an operator has to decide. An account that is certainly wrong is
 * rejected. One that passes all checks is approved only in the sandbox: a check digit does not prove who owns the account.
 */
export function automaticReview(account: FiatAccount, approvesAutomatically: boolean): Review | undefined {
  const findings = findingsOf(account);
  const wrong = findings.filter(({ verdict }) => verdict === 'REJECT');
  if (wrong.length > 0) return { status: 'REJECTED', reason: wrong.map(({ reason }) => reason).join(' ') };
  if (findings.length > 0 || !approvesAutomatically) return undefined;
  return { status: 'APPROVED', reason: 'All automatic checks passed.' };
}

/**
 * PENDING  --review--> APPROVED | REJECTED
 * any of them --update--> PENDING
 */
const NEXT: Readonly<Record<FiatAccountStatus, readonly FiatAccountStatus[]>> = {
  PENDING: ['PENDING', 'APPROVED', 'REJECTED'],
  APPROVED: ['PENDING'],
  REJECTED: ['PENDING'],
};

/** Another version than the one that the reviewer was shown: it was changed, or another reviewer has decided. */
export function versionFault({ id, status }: Pick<FiatAccount, 'id' | 'status'>): Problem {
  const detail = `Fiat account ${id} has changed since you viewed it; view it again.`;
  return new Problem('invalid-state', detail, { status });
}

export function transitionFault(
  account: Pick<FiatAccount, 'id' | 'status'>,
  to: FiatAccountStatus,
): Problem | undefined {
  if (NEXT[account.status].includes(to)) return undefined;
  return new Problem(
    'invalid-state',
    `Fiat account ${account.id} is ${account.status}; only a PENDING one can become ${to}.`,
    { status: account.status },
  );
}
