import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useGo } from '~/app/navigation.ts';
import { FIAT_KINDS, type FiatKind } from '~/customer/data.ts';
import { FormField, filled, required, useForm } from '~/customer/form.tsx';
import { words } from '~/lib/words.ts';
import { ConfirmDialog, Facts, Select, TextInput, toast } from '~/ui/index.ts';
import { CreateFrame, Notes, Pair } from './frame.tsx';

const EMPTY = {
  kind: 'wire',
  owner: 'INSTITUTION',
  name: '',
  first_name: '',
  last_name: '',
  number: '',
  routing_number_type: 'ABA',
  routing_number: '',
  bank_name: '',
  bank_country: 'US',
  address1: '',
  city: '',
  province: '',
  zip_code: '',
  country: 'US',
};
type Values = typeof EMPTY;

const NUMBERS: Readonly<Record<FiatKind, readonly [field: string, label: string]>> = {
  wire: ['account_number', 'Account number or IBAN'],
  cubix: ['account_id', 'Account on the network'],
  bank_network_2: ['account_number', 'Account number or IBAN'],
  bank_network_3: ['account_number', 'Account number or IBAN'],
  cbit: ['wallet_address', 'Wallet address'],
};

/** The check digit of an ABA number: 3, 7 and 1 times its digits are a multiple of 10. */
function isAba(text: string): boolean {
  if (!/^[0-9]{9}$/.test(text)) return false;
  const sum = Array.from(text).reduce((total, digit, at) => total + Number(digit) * [3, 7, 1][at % 3]!, 0);
  return sum % 10 === 0;
}

const countryFault = (text: string): string | undefined =>
  /^[A-Za-z]{2,3}$/.test(text.trim()) ? undefined : 'A country code of two or three letters: US';

function routingFault({ routing_number_type: type, routing_number: number }: Values): string | undefined {
  const text = number.trim();
  if (type === 'ABA') return isAba(text) ? undefined : 'Nine digits with a valid check digit.';
  return /^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$/.test(text)
    ? undefined
    : 'A BIC of 8 or 11 characters, in capitals.';
}

function check(values: Values) {
  const isPerson = values.owner === 'PERSON';
  const isWire = values.kind === 'wire';
  return {
    name: isPerson ? undefined : required(values.name, 'the name of the institution'),
    first_name: isPerson ? required(values.first_name, 'the first name') : undefined,
    last_name: isPerson ? required(values.last_name, 'the last name') : undefined,
    number:
      required(values.number, 'the number') ??
      (/\s/.test(values.number.trim()) ? 'Without blanks.' : undefined),
    routing_number: isWire ? routingFault(values) : undefined,
    bank_name: isWire ? required(values.bank_name, 'the name of the bank') : undefined,
    bank_country: isWire ? countryFault(values.bank_country) : undefined,
    country: isWire ? countryFault(values.country) : undefined,
  };
}

function requestOf(values: Values) {
  const kind = values.kind as FiatKind;
  const details = {
    [NUMBERS[kind][0]]: values.number.trim(),
    ...(kind === 'wire' && {
      routing_details: {
        routing_number_type: values.routing_number_type,
        routing_number: values.routing_number.trim(),
        bank_name: values.bank_name.trim(),
        bank_address: { country: values.bank_country.trim().toUpperCase() },
      },
      fiat_account_owner_address: filled({
        address1: values.address1.trim(),
        city: values.city.trim(),
        province: values.province.trim(),
        zip_code: values.zip_code.trim(),
        country: values.country.trim().toUpperCase(),
      }),
    }),
  };
  return {
    fiat_account_owner:
      values.owner === 'PERSON'
        ? { person_details: { first_name: values.first_name.trim(), last_name: values.last_name.trim() } }
        : { institution_details: { name: values.name.trim() } },
    fiat_network_instructions: { [kind]: details },
  };
}

/** Where the service reports a problem of a field. */
function pointerOf(name: keyof Values, kind: string): string {
  const owner = '/fiat_account_owner';
  const base = `/fiat_network_instructions/${kind}`;
  if (name === 'name') return `${owner}/institution_details/name`;
  if (name === 'first_name' || name === 'last_name') return `${owner}/person_details/${name}`;
  if (name === 'number') return `${base}/${NUMBERS[kind as FiatKind][0]}`;
  if (name === 'bank_country') return `${base}/routing_details/bank_address/country`;
  if (name.startsWith('routing') || name === 'bank_name') return `${base}/routing_details/${name}`;
  return `${base}/fiat_account_owner_address/${name}`;
}

export default function NewFiatAccount() {
  const go = useGo();
  const [reviewed, setReviewed] = useState(false);
  const form = useForm(EMPTY, check);
  const { values } = form;
  const kind = values.kind as FiatKind;
  const isPerson = values.owner === 'PERSON';
  const text = (name: keyof Values, label: string, hint?: string) => (
    <FormField
      form={form}
      name={name}
      pointer={pointerOf(name, kind)}
      label={label}
      {...(hint !== undefined && { hint })}
    >
      {(wired) => <TextInput {...wired} />}
    </FormField>
  );

  async function send(): Promise<void> {
    const made = await ferry
      .createFiatAccount({ ...requestOf(values), ref_id: form.refId() })
      .catch((error: unknown) => {
        form.refuse(error);
        throw error;
      });
    await queryClient.invalidateQueries();
    toast('Registered the fiat account. It is under review.');
    go(`/fiat-accounts?open=${made.id}`);
  }

  return (
    <>
      <CreateFrame
        form={form}
        onReview={() => setReviewed(true)}
        aside={
          <Notes>
            <li>The account is reviewed before the first payment. Withdrawals to it wait until then.</li>
            <li>Afterwards every answer has the number masked, down to its last four characters.</li>
            <li>
              Payments by wire carry Latin letters without accents; what is spelled differently is shown.
            </li>
          </Notes>
        }
      >
        <Pair>
          <FormField form={form} name="kind" label="Bank or network">
            {(wired) => (
              <Select {...wired} options={FIAT_KINDS.map((one) => ({ value: one, label: words(one) }))} />
            )}
          </FormField>
          <FormField form={form} name="owner" label="Owner">
            {(wired) => (
              <Select
                {...wired}
                options={[
                  { value: 'INSTITUTION', label: 'An institution' },
                  { value: 'PERSON', label: 'A person' },
                ]}
              />
            )}
          </FormField>
        </Pair>
        {isPerson ? (
          <Pair>
            {text('first_name', 'First name')}
            {text('last_name', 'Last name')}
          </Pair>
        ) : (
          text('name', 'Name of the institution')
        )}
        {text('number', NUMBERS[kind][1])}
        {kind === 'wire' && (
          <>
            <Pair>
              <FormField form={form} name="routing_number_type" label="Routing by">
                {(wired) => (
                  <Select
                    {...wired}
                    options={[
                      { value: 'ABA', label: 'ABA number' },
                      { value: 'SWIFT', label: 'BIC (SWIFT)' },
                    ]}
                  />
                )}
              </FormField>
              {text('routing_number', values.routing_number_type === 'ABA' ? 'ABA number' : 'BIC')}
            </Pair>
            <Pair>
              {text('bank_name', 'Name of the bank')}
              {text('bank_country', 'Country of the bank')}
            </Pair>
            <h2 className="eyebrow">Address of the owner</h2>
            {text('address1', 'Street and number')}
            <Pair>
              {text('city', 'City')}
              {text('zip_code', 'Postal code')}
            </Pair>
            <Pair>
              {text('province', 'State or province')}
              {text('country', 'Country')}
            </Pair>
          </>
        )}
      </CreateFrame>
      <ConfirmDialog
        open={reviewed}
        onClose={() => setReviewed(false)}
        title="Confirm the fiat account"
        description="Compare the number with its source: afterwards only its last four characters are shown."
        action="Register the account"
        onConfirm={send}
      >
        <Facts
          facts={[
            { name: 'Owner', value: isPerson ? `${values.first_name} ${values.last_name}` : values.name },
            { name: 'Bank or network', value: words(kind) },
            { name: NUMBERS[kind][1], value: <span className="font-mono">{values.number}</span> },
            kind === 'wire'
              ? {
                  name: values.routing_number_type,
                  value: <span className="font-mono">{values.routing_number}</span>,
                }
              : undefined,
            kind === 'wire'
              ? { name: 'Bank', value: `${values.bank_name}, ${values.bank_country}` }
              : undefined,
            kind === 'wire'
              ? {
                  name: 'Address',
                  value: [values.address1, values.zip_code, values.city, values.province, values.country]
                    .filter((one) => one !== '')
                    .join(', '),
                }
              : undefined,
          ]}
        />
      </ConfirmDialog>
    </>
  );
}
