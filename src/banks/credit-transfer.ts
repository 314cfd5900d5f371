import type { FiatAccountOwner } from '../fiat-accounts/beneficiary.ts';
import type { FiatNetworkInstructions } from '../networks/fiat.ts';
import { networkText } from '../networks/text.ts';
import type { Originator, Payment } from '../rails/rail.ts';
import { type Agent, addressOf, agentOf, nameOf, type Party, Unpayable } from './party.ts';

/** A payment as a message carries it. */
export type CreditTransfer = {
  readonly key: string;
  readonly units: bigint;
  readonly creditor: Party;
  readonly creditorAccount: string;
  readonly creditorAgent: Agent;
  readonly intermediary: Agent | undefined;
  readonly remittance: string;
  /** The name of the party that the operator pays for. */
  readonly ultimateDebtor: string | undefined;
};

/** Unstructured remittance information: one line. */
const REMITTANCE_MAX = 140;
/** 18 digits with two decimals, and room for the sum of a file. */
const UNITS_MAX = 10n ** 14n;

function ownerName({ person_details: person, institution_details: institution }: FiatAccountOwner): string {
  return person === undefined ? institution!.name : `${person.first_name} ${person.last_name}`;
}

/** A name that the networks cannot write is left out: the bank has it in the operator's records. */
function originatorName(originator: Originator | undefined): string | undefined {
  const { identity, customerName } = originator ?? {};
  const name = identity === undefined ? customerName : ownerName(identity);
  if (name === undefined) return undefined;
  try {
    return nameOf(name, 'The name of the originator');
  } catch (error) {
    if (error instanceof Unpayable) return undefined;
    throw error;
  }
}

/** Throws Unpayable, whose sentence customers are shown, if the networks would refuse the message. */
export function creditTransferOf(payment: Payment, currency: string): CreditTransfer {
  const { key, asset, amountUnits, memo, destination } = payment;
  if (asset !== currency) throw new Unpayable(`The account of this rail is in ${currency}, not in ${asset}.`);
  if (amountUnits >= UNITS_MAX)
    throw new Unpayable('The amount has more digits than a payment message can carry.');
  if (!('instructions' in destination)) throw new Unpayable('The destination is not a bank account.');
  const { wire } = destination.instructions as FiatNetworkInstructions;
  if (wire === undefined) throw new Unpayable('The destination is not an account for wires.');
  const { routing_details: bank, intermediary_routing_details: between } = wire;
  const remittance = networkText(memo ?? '');
  if (remittance.length > REMITTANCE_MAX)
    throw new Unpayable(
      `The memo has ${remittance.length} characters as banks write it; at most ${REMITTANCE_MAX} fit.`,
    );
  return {
    key,
    units: amountUnits,
    creditor: {
      name: nameOf(ownerName(destination.owner), 'The name of the owner of the account'),
      address: addressOf(wire.fiat_account_owner_address, 'the owner of the account'),
    },
    creditorAccount: wire.account_number,
    creditorAgent: agentOf(bank, 'the bank'),
    intermediary: between === undefined ? undefined : agentOf(between, 'the intermediary bank'),
    remittance,
    ultimateDebtor: originatorName(payment.originator),
  };
}
