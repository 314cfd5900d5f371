import { type FieldError, invalidRequest } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { Networks } from '../networks/register.ts';
import type { ArrivedDeposit } from '../rails/rail.ts';
import { normalisedMemo } from './way.ts';

/** What tells one deposit from another, as pure values. The table `arrivals` holds one row for each. */

type OnChain = Extract<ArrivedDeposit, { txHash: string }>;
type ByBank = Extract<ArrivedDeposit, { reference: string }>;
type Fault = (name: string, message: string) => void;

/** A deposit that arrived, and what became of it. */
export type ArrivalRecord = {
  readonly rail: string;
  /** The address on a chain, the operator's own account at a bank; null where a bank deposit was recorded without. */
  readonly account: string | null;
  /** The hash on a chain, the bank's reference. */
  readonly transaction: string;
  readonly output: number | null;
  readonly asset: string;
  readonly amountUnits: bigint;
  /** Normalised; null on a chain. */
  readonly memo: string | null;
  readonly transferId: string | null;
  readonly suspenseId: string | null;
};

const CONTROL = /\p{Cc}/u;

/** Adapters need not be written in TypeScript. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The text of an identity. What is longer or cannot be stored is refused, never cut off. */
function readText(value: unknown, name: string, fault: Fault): string {
  const text = textOf(value).trim();
  if (text === '' || text.length > LIMITS.depositTextMax || CONTROL.test(text)) {
    fault(name, `must be text of 1 to ${LIMITS.depositTextMax} characters, none of them a control character`);
  }
  return text;
}

function readOutput({ rail, output }: OnChain, networks: Networks, fault: Fault): number | null {
  const max = LIMITS.outputNumberMax;
  const isNumbered = networks.numbersOutputs(rail);
  if (output === null && !isNumbered) return null;
  if (!Number.isInteger(output) || output! < 0 || output! > max) {
    const orNull = isNumbered ? '' : ', or null for all that the address got together';
    fault('output', `must be an integer from 0 to ${max}${orNull}`);
  }
  return output;
}

function readOnChain(reported: OnChain, networks: Networks, fault: Fault): OnChain {
  const { rail } = reported;
  const txHash = readText(reported.txHash, 'tx_hash', fault);
  const address = readText(reported.address, 'address', fault);
  if (!networks.isCryptoNetwork(rail)) {
    fault('rail', `must be one of ${networks.cryptoNetworks.join(', ')}`);
    return reported;
  }
  return {
    ...reported,
    txHash: networks.canonicalTxHash(rail, txHash),
    output: readOutput(reported, networks, fault),
    address: networks.canonicalAddress(rail, address),
  };
}

function readByBank(reported: ByBank, networks: Networks, fault: Fault): ByBank {
  if (!networks.isFiatKind(reported.rail)) fault('rail', `must be one of ${networks.fiatKinds.join(', ')}`);
  return {
    ...reported,
    // Account numbers are written in groups, or without.
    account: readText(textOf(reported.account).replaceAll(/\s/g, ''), 'account', fault),
    reference: readText(reported.reference, 'reference', fault),
    // The payer wrote it: nothing in it may keep the deposit out, and this is all that PostgreSQL cannot store.
    memoId: textOf(reported.memoId).replaceAll('\0', ''),
  };
}

/** In one form, however the rail wrote it. Throws a problem that names every field which no deposit can have. */
export function readArrived(reported: ArrivedDeposit, networks: Networks): ArrivedDeposit {
  const errors: FieldError[] = [];
  const fault: Fault = (name, message) => void errors.push({ pointer: `/${name}`, message });
  const arrived =
    'txHash' in reported ? readOnChain(reported, networks, fault) : readByBank(reported, networks, fault);
  const { amountUnits } = reported;
  if (typeof amountUnits !== 'bigint' || amountUnits <= 0n || amountUnits > LIMITS.arrivedUnitsMax) {
    fault('amount_units', 'must be a bigint from 1 to 2^256 - 1');
  }
  const asset = readText(reported.asset, 'asset', fault);
  if (errors.length > 0) throw invalidRequest(errors);
  return { ...arrived, asset };
}

/** For people: the output on the chain, or the bank's reference. */
export function referenceOf(arrived: ArrivedDeposit): string {
  return 'txHash' in arrived ? `${arrived.txHash}:${outputText(arrived)}` : arrived.reference;
}

/** As transfers show it: the number of the output, or the address that was paid. */
export function outputText({ output, address }: OnChain): string {
  return output === null ? address : String(output);
}

/** How a row is looked up: by a numbered output, by an address and asset, or by a bank's reference. */
export type ArrivalLookup = {
  readonly rail: string;
  readonly transaction: string;
  readonly output?: number;
  readonly address?: string;
  readonly asset?: string;
  readonly bankAccount?: string;
};

export type ArrivalKeys = {
  /** The same deposit, reported before. */
  readonly own: string;
  /** All that the transaction paid of the asset to the address: a numbered output is a part of that. */
  readonly whole?: string;
};

const keyText = (lookup: ArrivalLookup): string => JSON.stringify(lookup);

export function readKey(key: string): ArrivalLookup {
  return JSON.parse(key) as ArrivalLookup;
}

export function keysOf(arrived: ArrivedDeposit): ArrivalKeys {
  const { rail, asset } = arrived;
  if (!('txHash' in arrived)) {
    return { own: keyText({ rail, transaction: arrived.reference, bankAccount: arrived.account }) };
  }
  const { txHash: transaction, output, address } = arrived;
  const whole = keyText({ rail, transaction, address, asset });
  return output === null ? { own: whole } : { own: keyText({ rail, transaction, output }), whole };
}

/** The transfer that credited it, or the suspense deposit that keeps it. */
export type Became = Pick<ArrivalRecord, 'transferId' | 'suspenseId'>;

export function recordOf(arrived: ArrivedDeposit, { transferId, suspenseId }: Became): ArrivalRecord {
  const { rail, asset, amountUnits } = arrived;
  const common = { rail, asset, amountUnits, transferId, suspenseId };
  if ('txHash' in arrived) {
    const { address: account, txHash: transaction, output } = arrived;
    return { ...common, account, transaction, output, memo: null };
  }
  const { account, reference: transaction } = arrived;
  return { ...common, account, transaction, output: null, memo: normalisedMemo(arrived.memoId) };
}

/** Names of what a deposit that was reported before is reported with otherwise now. */
export function differences(known: ArrivalRecord, arrived: ArrivedDeposit): string[] {
  const now = recordOf(arrived, known);
  const isOnChain = 'txHash' in arrived;
  const same = {
    amount_units: known.amountUnits === now.amountUnits,
    asset: known.asset === now.asset,
    output: known.output === now.output,
    sent_to: isOnChain ? known.account === now.account : known.memo === now.memo,
  };
  return Object.entries(same).flatMap(([name, isSame]) => (isSame ? [] : [name]));
}
