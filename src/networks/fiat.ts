import type { TProperties } from 'typebox';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import {
  ACCOUNT_NUMBER,
  AddressShape,
  type InstructionFields,
  type InstructionsOf,
  networkAccount,
  RoutingDetailsShape,
} from './instructions.ts';

/**
 * Everything that Ferry knows about a kind of fiat account: the bank or network that its withdrawals go over. To add a kind, add
 * a record to the table below, and a migration that adds its name to the checks on `kind` in `fiat_accounts` and
 * `fiat_deposit_instructions`.
 */
export type FiatKindRecord = {
  readonly withdrawalType: `${string}_WITHDRAWAL`;
  readonly depositType: `${string}_DEPOSIT`;
  /** What fits into the memo of a withdrawal, in Unicode code points. */
  readonly memoLengthMax: number;
  /** Default fee of a withdrawal, in USD. */
  readonly withdrawalFee: string;
  /** The time from submitting a payment until it is final. */
  readonly delayMs: number;
  readonly instructions: InstructionFields;
  /** The operator's own account in the sandbox, for others to pay to. */
  readonly sandboxInstructions: object;
};

/** Checks the sandbox's own account against the fields of its kind. */
export function fiatKind<
  const Name extends string,
  const Details extends TProperties,
  const Kind extends FiatKindRecord,
>(
  record: Kind & {
    readonly instructions: InstructionFields<Name, Details>;
    readonly sandboxInstructions: InstructionsOf<InstructionFields<Name, Details>>;
  },
): Kind {
  return record;
}

export const FIAT_KIND_RECORDS = {
  wire: fiatKind({
    withdrawalType: 'WIRE_WITHDRAWAL',
    depositType: 'WIRE_DEPOSIT',
    memoLengthMax: 100,
    withdrawalFee: '20',
    delayMs: 30 * 60_000,
    instructions: {
      account: ACCOUNT_NUMBER,
      details: {
        routing_details: RoutingDetailsShape('The bank that holds the account'),
        fiat_account_owner_address: AddressShape('Address of the owner of the account'),
        intermediary_routing_details: Type.Optional(RoutingDetailsShape('The intermediary bank, if any')),
      },
    },
    sandboxInstructions: {
      account_number: '000987654321',
      routing_details: {
        routing_number_type: 'ABA',
        routing_number: '021000021',
        bank_name: 'Sandbox Bank',
        bank_address: { country: 'US', address1: '1 Pier Street', city: 'New York', province: 'NY' },
      },
      fiat_account_owner_address: { country: 'US', address1: '2 Pier Street', city: 'New York' },
    },
  }),
  cubix: fiatKind({
    withdrawalType: 'CUBIX_WITHDRAWAL',
    depositType: 'CUBIX_DEPOSIT',
    memoLengthMax: 40,
    withdrawalFee: '0',
    delayMs: 60_000,
    instructions: {
      account: networkAccount('account_id', 'Account on the first bank network'),
      details: {},
    },
    sandboxInstructions: { account_id: 'FERRY-SANDBOX' },
  }),
  bank_network_2: fiatKind({
    withdrawalType: 'BANK_WITHDRAWAL',
    depositType: 'BANK_DEPOSIT',
    memoLengthMax: 100,
    withdrawalFee: '0',
    delayMs: 10 * 60_000,
    instructions: { account: ACCOUNT_NUMBER, details: {} },
    sandboxInstructions: { account_number: '2000987654' },
  }),
  bank_network_3: fiatKind({
    withdrawalType: 'BANK_WITHDRAWAL',
    depositType: 'BANK_DEPOSIT',
    memoLengthMax: 140,
    withdrawalFee: '0',
    delayMs: 10 * 60_000,
    instructions: { account: ACCOUNT_NUMBER, details: {} },
    sandboxInstructions: { account_number: '3000987654' },
  }),
  cbit: fiatKind({
    withdrawalType: 'CBIT_WITHDRAWAL',
    depositType: 'CBIT_DEPOSIT',
    memoLengthMax: LIMITS.memoLengthMax,
    withdrawalFee: '0',
    delayMs: 30_000,
    instructions: { account: networkAccount('wallet_address', 'Wallet on the CBIT network'), details: {} },
    sandboxInstructions: { wallet_address: 'ferry-sandbox-cbit' },
  }),
} as const satisfies Readonly<Record<string, FiatKindRecord>>;

export type FiatKind = keyof typeof FIAT_KIND_RECORDS;

/** Exactly one kind is present. */
export type FiatNetworkInstructions = {
  readonly [Kind in FiatKind]?: InstructionsOf<(typeof FIAT_KIND_RECORDS)[Kind]['instructions']>;
};
