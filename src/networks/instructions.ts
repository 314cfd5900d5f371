import type { Static, TObject, TProperties, TString } from 'typebox';
import { closed, OPTIONAL_TEXT_PATTERN, TEXT_PATTERN } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';

/** Parts of payment instructions. Each kind of fiat account puts its own together from these. */

/** Text for a payment message: not blank, and no control character, which could end a line of one. */
export const PaymentText = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: LIMITS.bankTextMax,
    pattern: TEXT_PATTERN,
    description,
  });

/** May be empty, because forms send fields that were not filled in; the review asks for what is needed. */
const OptionalText = (description: string, maxLength: number = LIMITS.bankTextMax) =>
  Type.Optional(Type.String({ maxLength, pattern: OPTIONAL_TEXT_PATTERN, description }));

export const AddressShape = (description: string) =>
  Type.Object(
    {
      country: PaymentText('ISO 3166 code of two or three letters; anything else waits for an operator'),
      address1: OptionalText('Street and number'),
      address2: OptionalText('More of the street address'),
      city: OptionalText('City'),
      province: OptionalText('State or province'),
      zip_code: OptionalText('Postal code', LIMITS.bankZipCodeMax),
    },
    { ...closed, description },
  );

export const RoutingDetailsShape = (description: string) =>
  Type.Object(
    {
      routing_number_type: Type.Enum(['ABA', 'SWIFT']),
      routing_number: Type.String({
        minLength: 1,
        maxLength: 11,
        description: 'ABA: nine digits. SWIFT: a BIC of 8 or 11 characters (ISO 9362)',
      }),
      bank_name: PaymentText('Name of the bank'),
      bank_address: AddressShape('Address of the bank'),
    },
    { ...closed, description },
  );

/** The field that names the account at its bank or network: whole in requests, masked in every answer. */
export type AccountField<Name extends string = string> = {
  readonly field: Name;
  readonly whole: TString;
  readonly masked: TString;
};

const masked = (description: string) =>
  Type.String({ description: `${description}, masked to the last four characters`, examples: ['****6789'] });

/** `account_number`: a number at a bank. */
export const ACCOUNT_NUMBER = {
  field: 'account_number',
  whole: Type.String({
    minLength: 1,
    maxLength: LIMITS.bankAccountNumberMax,
    // A masked number does not match, so it cannot be sent back as a number.
    pattern: '^[A-Za-z0-9]+$',
    description: 'Account number or IBAN, without blanks',
  }),
  masked: masked('Account number'),
} as const satisfies AccountField;

/** A name that a network gave to the account. */
export function networkAccount<Name extends string>(field: Name, description: string): AccountField<Name> {
  const whole = Type.String({
    minLength: 1,
    maxLength: LIMITS.bankNetworkAccountMax,
    pattern: '^[A-Za-z0-9._:-]+$',
    description,
  });
  return { field, whole, masked: masked(description) };
}

/** Answers mask numbers, and a request may send a number back as an answer showed it. */
export const MASK = '****';
export const isMasked = (text: string): boolean => text.startsWith(MASK);

/** The field in a request that changes an account: whole, masked as it was answered, or absent. */
export function changedField({ whole }: AccountField): TString {
  const { pattern = '.+', ...options } = whole as TString & {
    readonly pattern?: string;
    readonly description?: string;
  };
  const inner = pattern.replaceAll(/^\^|\$$/g, '');
  return Type.String({
    ...options,
    pattern: `^(\\*{4}[A-Za-z0-9._:-]{0,4}|${inner})$`,
    description: `${options.description}; absent, or masked as answers show it: unchanged`,
  });
}

/** The wire shape of one kind of instructions: the account, and fields that requests and answers share. */
export type InstructionFields<Name extends string = string, Details extends TProperties = TProperties> = {
  readonly account: AccountField<Name>;
  readonly details: Details;
};

export type InstructionsOf<Fields extends InstructionFields> = {
  readonly [Name in Fields['account']['field']]: string;
} & Static<TObject<Fields['details']>>;
