import { type FieldError, invalidRequest } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { Networks } from '../networks/register.ts';
import type { ArrivedDeposit } from '../rails/rail.ts';
import { normalisedMemo } from './target.ts';

/** The identity of a deposit. The table `arrivals` has one row for each deposit. */

type ChainDeposit = Extract<ArrivedDeposit, { txHash: string }>;
type BankDeposit = Extract<ArrivedDeposit, { reference: string }>;
type Fault = (name: string, message: string) => void;

/** A deposit that arrived, and the transfer, suspense deposit or journal entry that it became. */
export type ArrivalRecord = {
  readonly rail: string;
  /** The address on a chain, the operator's own bank account; null for a bank deposit that was recorded without one. */
  readonly account: string | null;
  /** The transaction hash, or the bank's reference. */
  readonly transaction: string;
  readonly output: number | null;
  readonly asset: string;
  readonly amountUnits: bigint;
  /** Normalised; null on a chain. */
  readonly memo: string | null;
  readonly transferId: string | null;
  readonly suspenseId: string | null;
  /** The journal entry with which an operator booked it by hand, in addition to or instead of the two above. */
  readonly journalEntryId: string | null;
  /** The journal entry was reversed: the row is deleted, and the deposit can be booked again. */
  readonly isReleased?: true;
  /** The journal entry whose row was released by an earlier command of the same batch. */
  readonly replaces?: string;
};

const CONTROL = /\p{Cc}/u;

/** Values may have any type, because adapters need not be written in TypeScript. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A text that identifies a deposit. If it is too long or cannot be stored, it is refused, never truncated. */
function readText(value: unknown, name: string, fault: Fault): string {
  const text = textOf(value).trim();
  if (text === '' || text.length > LIMITS.depositTextMax || CONTROL.test(text)) {
    fault(name, `must be a string of 1 to ${LIMITS.depositTextMax} characters without control characters`);
  }
  return text;
}

function readOutput(
  { rail, output }: ChainDeposit,
  networks: Networks,
  fault: Fault,
  isByHand: boolean,
): number | null {
  const max = LIMITS.outputNumberMax;
  // What is booked by hand may stand for all outputs to an address, on every network.
  const isNumbered = networks.numbersOutputs(rail) && !isByHand;
  if (output === null && !isNumbered) return null;
  if (!Number.isInteger(output) || output! < 0 || output! > max) {
    const orNull = isNumbered ? '' : ', or null for everything that the transaction paid to the address';
    fault('output', `must be an integer from 0 to ${max}${orNull}`);
  }
  return output;
}

function readOnChain(
  reported: ChainDeposit,
  networks: Networks,
  fault: Fault,
  isByHand: boolean,
): ChainDeposit {
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
    output: readOutput(reported, networks, fault, isByHand),
    address: networks.canonicalAddress(rail, address),
  };
}

function readByBank(reported: BankDeposit, networks: Networks, fault: Fault): BankDeposit {
  if (!networks.isFiatKind(reported.rail)) fault('rail', `must be one of ${networks.fiatKinds.join(', ')}`);
  return {
    ...reported,
    // Banks write account numbers with or without blanks between groups of digits.
    account: readText(textOf(reported.account).replaceAll(/\s/g, ''), 'account', fault),
    reference: readText(reported.reference, 'reference', fault),
    // The payer wrote the memo, so it must not prevent the deposit. Only NUL is removed, which PostgreSQL cannot store.
    memoId: textOf(reported.memoId).replaceAll('\0', ''),
  };
}

/** The deposit in canonical form. Throws a problem that names every invalid field. */
export function readArrived(reported: ArrivedDeposit, networks: Networks, isByHand = false): ArrivedDeposit {
  const errors: FieldError[] = [];
  const fault: Fault = (name, message) => void errors.push({ pointer: `/${name}`, message });
  const arrived =
    'txHash' in reported
      ? readOnChain(reported, networks, fault, isByHand)
      : readByBank(reported, networks, fault);
  const { amountUnits } = reported;
  if (typeof amountUnits !== 'bigint' || amountUnits <= 0n || amountUnits > LIMITS.arrivedUnitsMax) {
    fault('amount_units', 'must be a bigint from 1 to 2^256 - 1');
  }
  const asset = readText(reported.asset, 'asset', fault);
  if (errors.length > 0) throw invalidRequest(errors);
  return { ...arrived, asset };
}

/** As operators and users see it: the output on the chain, or the bank's reference. */
export function referenceOf(arrived: ArrivedDeposit): string {
  return 'txHash' in arrived ? `${arrived.txHash}:${outputText(arrived)}` : arrived.reference;
}

/** As transfers show it: the number of the output, or the address that was paid. */
export function outputText({ output, address }: ChainDeposit): string {
  return output === null ? address : String(output);
}

/** How a row is found: by a numbered output, by an address and asset, or by a bank's reference. */
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
  /** Everything of the asset that the transaction paid to the address. A numbered output is a part of it. */
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

/** The keys of a record that was read. */
export function keysOfRecord(record: ArrivalRecord): ArrivalKeys {
  const { rail, transaction, account, output, asset, memo } = record;
  if (memo !== null) return { own: keyText({ rail, transaction, bankAccount: account! }) };
  const whole = keyText({ rail, transaction, address: account!, asset });
  return output === null ? { own: whole } : { own: keyText({ rail, transaction, output }), whole };
}

/** The transfer that credited the deposit, the suspense deposit that keeps it, or the journal entry that booked it. */
export type Became = Partial<Pick<ArrivalRecord, 'transferId' | 'suspenseId' | 'journalEntryId'>>;

export function recordOf(arrived: ArrivedDeposit, became: Became): ArrivalRecord {
  const { rail, asset, amountUnits } = arrived;
  const { transferId = null, suspenseId = null, journalEntryId = null } = became;
  const common = { rail, asset, amountUnits, transferId, suspenseId, journalEntryId };
  if ('txHash' in arrived) {
    const { address: account, txHash: transaction, output } = arrived;
    return { ...common, account, transaction, output, memo: null };
  }
  const { account, reference: transaction } = arrived;
  return { ...common, account, transaction, output: null, memo: normalisedMemo(arrived.memoId) };
}

/** The fields in which a report differs from an earlier report of the same deposit. */
export function differences(known: ArrivalRecord, arrived: ArrivedDeposit): string[] {
  const now = recordOf(arrived, known);
  const isOnChain = 'txHash' in arrived;
  const same = {
    amount_units: known.amountUnits === now.amountUnits,
    asset: known.asset === now.asset,
    output: known.output === now.output,
    // An operator who booked the deposit by hand did not state its memo.
    sent_to: isOnChain
      ? known.account === now.account
      : known.memo === now.memo || known.journalEntryId !== null,
  };
  return Object.entries(same).flatMap(([name, isSame]) => (isSame ? [] : [name]));
}
