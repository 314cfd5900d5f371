import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countryCode } from './countries.ts';
import { type FiatAccount, masked, type RoutingDetails } from './fiat-account.ts';
import { abaChecks, automaticReview, findingsOf, transitionFault } from './rules.ts';

const address = { country: 'US', address1: '1 Main Street', city: 'New York' };
const aba: RoutingDetails = {
  routing_number_type: 'ABA',
  routing_number: '021000021',
  bank_name: 'First Bank',
  bank_address: { country: 'USA' },
};
const bic = (routing_number: string, country = 'DE'): RoutingDetails => ({
  ...aba,
  routing_number_type: 'SWIFT',
  routing_number,
  bank_address: { country },
});
const person = { person_details: { first_name: 'Ada', last_name: 'Lovelace' } };

function wire(routing_details: RoutingDetails, more: object = {}) {
  const instructions = { account_number: '1', routing_details, fiat_account_owner_address: address, ...more };
  return {
    fiatAccountOwner: person,
    fiatNetworkInstructions: { wire: instructions },
  } as unknown as FiatAccount;
}

const verdicts = (account: FiatAccount) => findingsOf(account).map(({ verdict }) => verdict);

describe('the check digit of an ABA number', () => {
  /** Eight digits and the ninth that fits. */
  const valid = fc.stringMatching(/^[0-9]{8}$/).map((digits) => {
    const ninth = Array.from('0123456789').find((digit) => abaChecks(digits + digit));
    return digits + ninth!;
  });

  it('holds for numbers of real banks', () => {
    for (const number of ['021000021', '011401533', '091000019', '122105155', '324377516']) {
      expect(abaChecks(number)).toBe(true);
    }
  });

  it('finds every single wrong digit', () => {
    fc.assert(
      fc.property(valid, fc.nat(8), fc.integer({ min: 1, max: 9 }), (number, at, by) => {
        const wrong = (Number(number[at]) + by) % 10;
        expect(abaChecks(number.slice(0, at) + wrong + number.slice(at + 1))).toBe(false);
      }),
    );
  });
});

describe('the automatic checks', () => {
  it('pass a complete wire to a bank in the United States or one of its territories', () => {
    expect(findingsOf(wire(aba))).toEqual([]);
    expect(findingsOf(wire({ ...aba, bank_address: { country: 'PR' } }))).toEqual([]);
  });

  it('reject a wrong check digit, a prefix that no bank has, and a bank abroad', () => {
    expect(verdicts(wire({ ...aba, routing_number: '021000022' }))).toEqual(['REJECT']);
    expect(verdicts(wire({ ...aba, routing_number: '000000000' }))).toEqual(['REJECT']);
    expect(verdicts(wire({ ...aba, bank_address: { country: 'DE' } }))).toEqual(['REJECT']);
  });

  it('pass a BIC whose country is that of the bank, given by either code', () => {
    expect(findingsOf(wire(bic('DEUTDEFF')))).toEqual([]);
    expect(findingsOf(wire(bic('DEUTDEFF500', 'deu')))).toEqual([]);
  });

  it('reject a BIC of a country that does not exist, and ask about one of another country', () => {
    expect(verdicts(wire(bic('DEUTZZFF')))).toEqual(['REJECT']);
    expect(verdicts(wire(bic('DEUTFRPP')))).toEqual(['ASK']);
  });

  it('reject an IBAN whose check digits are wrong, in upper or lower case', () => {
    const german = bic('DEUTDEFF');
    expect(findingsOf(wire(german, { account_number: 'DE89370400440532013000' }))).toEqual([]);
    expect(findingsOf(wire(german, { account_number: 'de89370400440532013000' }))).toEqual([]);
    for (const mistyped of ['DE88370400440532013000', 'DE89370400440532013001', 'de89370400440532031000']) {
      const findings = findingsOf(wire(german, { account_number: mistyped }));
      expect(findings.map(({ verdict }) => verdict)).toEqual(['REJECT']);
      expect(findings[0]!.reason).not.toContain(mistyped.slice(4));
    }
  });

  it('do not check account numbers that are not IBANs', () => {
    for (const number of [
      '1',
      '000123456789',
      'DE12',
      'DE8937040044053201300',
      'GB12345',
      'AB1234567',
      'US12345678',
    ]) {
      expect(findingsOf(wire(bic('DEUTDEFF'), { account_number: number }))).toEqual([]);
    }
    // An ABA number names a bank in the United States, which has no IBANs.
    expect(findingsOf(wire(aba, { account_number: 'DE88370400440532013000' }))).toEqual([]);
  });

  it('accept a BIC with digits in its first four characters, and one of Kosovo', () => {
    expect(findingsOf(wire(bic('D3UTDEFF')))).toEqual([]);
    expect(verdicts(wire(bic('PCBKXKPR', 'AL')))).toEqual(['ASK']);
  });

  it('include the intermediary bank', () => {
    const between = { ...aba, routing_number: '021000022' };
    expect(verdicts(wire(aba, { intermediary_routing_details: between }))).toEqual(['REJECT']);
  });

  it('ask when the address is incomplete, a country is not a code, or a name has no letters', () => {
    const incomplete = { country: 'US', address1: ' ' };
    expect(verdicts(wire(aba, { fiat_account_owner_address: incomplete }))).toEqual(['ASK']);
    const named = { ...address, country: 'United States' };
    expect(verdicts(wire(aba, { fiat_account_owner_address: named }))).toEqual(['ASK']);
    expect(verdicts(wire({ ...aba, bank_address: named }))).toEqual(['ASK']);
    const nameless = { person_details: { first_name: 'Ada', last_name: '-' } };
    expect(verdicts({ ...wire(aba), fiatAccountOwner: nameless })).toEqual(['ASK']);
    const digits = { institution_details: { name: '1' } };
    expect(verdicts({ ...wire(aba), fiatAccountOwner: digits })).toEqual([]);
  });

  it('never repeat a number in their reasons', () => {
    for (const { reason } of findingsOf(wire({ ...aba, routing_number: '021000022' }))) {
      expect(reason).not.toContain('021000022');
    }
  });
});

it('the automatic review rejects wrong accounts, approves only if configured, and leaves the rest to operators', () => {
  const wrong = wire({ ...aba, routing_number: '021000022' });
  expect(automaticReview(wrong, false)?.status).toBe('REJECTED');
  expect(automaticReview(wire(aba), true)?.status).toBe('APPROVED');
  expect(automaticReview(wire(aba), false)).toBeUndefined();
  expect(automaticReview(wire(bic('DEUTFRPP')), true)).toBeUndefined();
});

it('only a PENDING account is reviewed, and any can become PENDING again', () => {
  const states = ['PENDING', 'APPROVED', 'REJECTED'] as const;
  const allowed = states.flatMap((from) =>
    states
      .filter((to) => transitionFault({ id: 'x', status: from }, to) === undefined)
      .map((to) => [from, to]),
  );
  expect(allowed).toEqual([
    ['PENDING', 'PENDING'],
    ['PENDING', 'APPROVED'],
    ['PENDING', 'REJECTED'],
    ['APPROVED', 'PENDING'],
    ['REJECTED', 'PENDING'],
  ]);
  expect(transitionFault({ id: 'x', status: 'APPROVED' }, 'APPROVED')).toMatchObject({
    slug: 'invalid-state',
    meta: { status: 'APPROVED' },
  });
});

it('countries are known by either code', () => {
  expect([countryCode('us'), countryCode('USA'), countryCode(' gb ')]).toEqual(['US', 'US', 'GB']);
  expect([countryCode('UK'), countryCode('XK'), countryCode('')]).toEqual([undefined, undefined, undefined]);
});

it('a mask never shows a whole number', () => {
  expect([masked('1234'), masked('1'), masked('12345'), masked('000123456789')]).toEqual([
    '****',
    '****',
    '****2345',
    '****6789',
  ]);
});
