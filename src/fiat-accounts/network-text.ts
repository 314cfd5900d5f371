import type { FieldError } from '../kernel/problem.ts';
import { lostLetters, networkText } from '../networks/text.ts';
import type {
  Address,
  FiatAccount,
  FiatAccountOwner,
  FiatNetworkInstructions,
  RoutingDetails,
} from './fiat-account.ts';

/** Names and addresses as payment networks carry them, which have fewer letters than Unicode. */

type Text = { readonly pointer: string; readonly text: string };

const ADDRESS = ['address1', 'address2', 'city', 'province', 'zip_code'] as const;

function addressTexts(address: Address | undefined, pointer: string): Text[] {
  return ADDRESS.flatMap((name) => {
    const text = address?.[name];
    return text === undefined ? [] : [{ pointer: `${pointer}/${name}`, text }];
  });
}

function bankTexts(details: RoutingDetails | undefined, pointer: string): Text[] {
  if (details === undefined) return [];
  return [
    { pointer: `${pointer}/bank_name`, text: details.bank_name },
    ...addressTexts(details.bank_address, `${pointer}/bank_address`),
  ];
}

/** Kinds that are paid by wire: those that say which bank holds the account. */
type WireFields = {
  readonly routing_details?: RoutingDetails;
  readonly intermediary_routing_details?: RoutingDetails;
  readonly fiat_account_owner_address?: Address;
};

function wiresOf(instructions: FiatNetworkInstructions): (readonly [kind: string, fields: WireFields])[] {
  const all = Object.entries(instructions as Readonly<Record<string, WireFields>>);
  return all.filter(([, fields]) => fields.routing_details !== undefined);
}

function instructionTexts(instructions: FiatNetworkInstructions): Text[] {
  return wiresOf(instructions).flatMap(([kind, fields]) => {
    const pointer = `/fiat_network_instructions/${kind}`;
    return [
      ...bankTexts(fields.routing_details, `${pointer}/routing_details`),
      ...bankTexts(fields.intermediary_routing_details, `${pointer}/intermediary_routing_details`),
      ...addressTexts(fields.fiat_account_owner_address, `${pointer}/fiat_account_owner_address`),
    ];
  });
}

function ownerTexts({ person_details: person, institution_details: institution }: FiatAccountOwner): Text[] {
  const pointer = '/fiat_account_owner';
  return [
    ...(person === undefined
      ? []
      : (['first_name', 'last_name'] as const).map((name) => ({
          pointer: `${pointer}/person_details/${name}`,
          text: person[name],
        }))),
    ...(institution === undefined
      ? []
      : [{ pointer: `${pointer}/institution_details/name`, text: institution.name }]),
  ];
}

/** Letters that no payment network carries, each with the field that has them. The owner counts if the account is paid by wire. */
export function textFaults(
  owner: FiatAccountOwner | undefined,
  instructions: FiatNetworkInstructions | undefined,
  isWire: boolean,
): FieldError[] {
  const texts = [
    ...(owner === undefined || !isWire ? [] : ownerTexts(owner)),
    ...(instructions === undefined ? [] : instructionTexts(instructions)),
  ];
  return texts.flatMap(({ pointer, text }) => {
    const lost = lostLetters(text);
    if (lost.length === 0) return [];
    const shown = lost.slice(0, 5).map((one) => `"${one}"`);
    const message = `has ${shown.join(', ')}, which payment networks cannot carry; spell it in Latin letters`;
    return [{ pointer, message }];
  });
}

export const isWire = (instructions: FiatNetworkInstructions): boolean => wiresOf(instructions).length > 0;

export type Transliteration = { readonly pointer: string; readonly sent_as: string };

/** Names and addresses that payments carry in other letters than they were given in. */
export function transliterationsOf(
  account: Pick<FiatAccount, 'fiatAccountOwner' | 'fiatNetworkInstructions' | 'deletedAtNs'>,
): { transliterations?: Transliteration[] } {
  const { fiatAccountOwner: owner, fiatNetworkInstructions: instructions, deletedAtNs } = account;
  if (deletedAtNs !== null || !isWire(instructions)) return {};
  const found = [...ownerTexts(owner), ...instructionTexts(instructions)].flatMap(({ pointer, text }) => {
    const sent = networkText(text);
    return sent === text ? [] : [{ pointer, sent_as: sent }];
  });
  return found.length === 0 ? {} : { transliterations: found };
}
