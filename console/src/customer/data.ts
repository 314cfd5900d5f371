import type { components } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';

export type Profile = components['schemas']['Profile'];
export type Balance = components['schemas']['Balance'];
export type Asset = components['schemas']['Asset'];
export type FiatAccount = components['schemas']['FiatAccount'];

/** As many as the service sends at once. A customer with more profiles names them by their ids. */
const PROFILES_MAX = 1_000;
/** Lists of choices in forms. */
const CHOICES_MAX = 1_000;
const LONG_MS = 60_000;

export const profilesQuery = {
  queryKey: ['profiles'],
  queryFn: async () => (await ferry.listProfiles({ limit: PROFILES_MAX, order: 'ASC' })).items,
  staleTime: LONG_MS,
} as const;

export const useProfiles = (): readonly Profile[] | undefined => useQuery(profilesQuery).data;

/** The nickname of a profile of one's own; undefined for profiles of others. */
export function useProfileName(): (id: string) => string | undefined {
  const profiles = useProfiles();
  return (id) => profiles?.find((one) => one.id === id)?.nickname;
}

/** Assets, their decimals, rails and fees: they change with a restart of the service only. */
export const useAssets = (): readonly Asset[] | undefined =>
  useQuery({
    queryKey: ['assets'],
    queryFn: async () => (await ferry.listAssets()).items,
    staleTime: Number.POSITIVE_INFINITY,
  }).data;

export const balancesQuery = (profileId: string | undefined) =>
  ({
    queryKey: ['balances', profileId],
    queryFn: async () => (await ferry.listBalances({ id: profileId! })).items,
    enabled: profileId !== undefined && profileId !== '',
  }) as const;

export const useBalances = (profileId: string | undefined): readonly Balance[] | undefined =>
  useQuery(balancesQuery(profileId)).data;

export const useFiatAccounts = (): readonly FiatAccount[] | undefined =>
  useQuery({
    queryKey: ['fiat-accounts', 'all'],
    queryFn: async () => (await ferry.listFiatAccounts({ limit: CHOICES_MAX })).items,
  }).data;

export const FIAT_KINDS = ['wire', 'cubix', 'bank_network_2', 'bank_network_3', 'cbit'] as const;
export type FiatKind = (typeof FIAT_KINDS)[number];

/** The bank or network, and the masked number. */
export function destinationOf({ fiat_network_instructions: instructions }: FiatAccount): {
  readonly kind: FiatKind;
  readonly number: string;
} {
  const kind = FIAT_KINDS.find((one) => instructions[one] !== undefined) ?? 'wire';
  const { wire, cubix, cbit, bank_network_2: second, bank_network_3: third } = instructions;
  const number = (wire ?? second ?? third)?.account_number ?? cubix?.account_id ?? cbit?.wallet_address ?? '';
  return { kind, number };
}

type Named = {
  readonly person_details?: { readonly first_name: string; readonly last_name: string } | undefined;
  readonly institution_details?: { readonly name: string } | undefined;
};

export const nameOf = ({ person_details: person, institution_details: institution }: Named): string =>
  institution?.name ?? (person === undefined ? '' : `${person.first_name} ${person.last_name}`);

export const ownerOf = ({ fiat_account_owner: owner }: FiatAccount): string =>
  owner === undefined ? '' : nameOf(owner);

/** A new idempotency key. `crypto.randomUUID` exists on https and localhost only. */
export const newRefId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
