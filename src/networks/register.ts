import { type AddressFamily, type Fault, type Form, textFault } from './addresses.ts';
import {
  CRYPTO_NETWORK_RECORDS,
  CRYPTO_TRANSFER_TYPES,
  type CryptoNetwork,
  type CryptoNetworkRecord,
} from './crypto.ts';
import { FIAT_KIND_RECORDS, type FiatKind, type FiatKindRecord } from './fiat.ts';
import { utxoAddresses } from './utxo.ts';

/**
 * The register of networks: one record for each crypto network and each kind of fiat account. Everything that depends on
 * the network or kind is read from its record, so adding one means adding a record. `NETWORKS` is the product's register; it
 * is passed to whatever depends on it.
 */
export type NetworkRecords = {
  readonly crypto: Readonly<Record<string, CryptoNetworkRecord>>;
  readonly fiat: Readonly<Record<string, FiatKindRecord>>;
};

/** A rail pays over one crypto network or to one kind of fiat account, and has its name. */
export type RailName = FiatKind | CryptoNetwork;

type FiatRecord = (typeof FIAT_KIND_RECORDS)[FiatKind];

/** Transfers inside the service. They are COMPLETED when they are created, and never change; the schema enforces that. */
export const INSIDE_TYPES = [
  'PLATFORM_TRANSFER_DEBIT',
  'PLATFORM_TRANSFER_CREDIT',
  'INTERNAL_TRANSFER_DEBIT',
  'INTERNAL_TRANSFER_CREDIT',
] as const;

/** Types of the interface that no kind of fiat account uses. */
const UNUSED_TYPES = ['SEN_DEPOSIT', 'SEN_WITHDRAWAL', 'SIGNET_DEPOSIT', 'SIGNET_WITHDRAWAL'] as const;

export type TransferType =
  | (typeof INSIDE_TYPES)[number]
  | (typeof CRYPTO_TRANSFER_TYPES)[keyof typeof CRYPTO_TRANSFER_TYPES]
  | FiatRecord['withdrawalType' | 'depositType']
  | (typeof UNUSED_TYPES)[number];

export type FiatFacts = Omit<FiatKindRecord, 'withdrawalType' | 'depositType'> & {
  readonly withdrawalType: TransferType;
  readonly depositType: TransferType;
};

export type Networks = {
  readonly cryptoNetworks: readonly CryptoNetwork[];
  readonly fiatKinds: readonly FiatKind[];
  readonly transferTypes: readonly TransferType[];
  isCryptoNetwork(name: string): name is CryptoNetwork;
  isFiatKind(name: string): name is FiatKind;
  /** This and the functions below throw on an unknown name: the rules of another network must not be applied. */
  crypto(network: CryptoNetwork): CryptoNetworkRecord;
  fiat(kind: FiatKind): FiatFacts;
  /** Undefined when `address` can be paid on `network`; otherwise a clause to follow "destination_address ". */
  addressFault(network: CryptoNetwork, address: string): Fault;
  canonicalAddress(network: CryptoNetwork, address: string): string;
  canonicalTxHash(network: CryptoNetwork, hash: string): string;
  numbersOutputs(network: CryptoNetwork): boolean;
};

function transferTypesOf({ fiat }: NetworkRecords): readonly TransferType[] {
  const { deposit, withdrawal } = CRYPTO_TRANSFER_TYPES;
  const ofKinds = Object.values(fiat).flatMap((one) => [one.depositType, one.withdrawalType]);
  // The types do not know the names of a register other than the product's.
  return [...new Set([...INSIDE_TYPES, deposit, withdrawal, ...ofKinds, ...UNUSED_TYPES])] as TransferType[];
}

export function createNetworks(records: NetworkRecords): Networks {
  const crypto = new Map(Object.entries(records.crypto));
  const fiat = new Map(Object.entries(records.fiat));
  const cryptoNetworks = [...crypto.keys()] as CryptoNetwork[];
  const fiatKinds = [...fiat.keys()] as FiatKind[];
  for (const name of fiat.keys()) {
    if (crypto.has(name)) throw new Error(`${name} is both a crypto network and a kind of fiat account`);
  }
  const families = new Set([...crypto.values()].map(({ addresses }) => addresses));
  const cryptoRecord = (network: string): CryptoNetworkRecord => {
    const record = crypto.get(network);
    if (record === undefined) throw new Error(`there is no crypto network ${network}`);
    return record;
  };
  return {
    cryptoNetworks,
    fiatKinds,
    transferTypes: transferTypesOf(records),
    isCryptoNetwork: (name): name is CryptoNetwork => crypto.has(name),
    isFiatKind: (name): name is FiatKind => fiat.has(name),
    crypto: cryptoRecord,
    fiat(kind) {
      const record = fiat.get(kind);
      if (record === undefined) throw new Error(`there is no kind of fiat account ${kind}`);
      return record as FiatFacts;
    },
    addressFault(network, address) {
      const unreadable = textFault(address);
      if (unreadable !== undefined) return unreadable;
      const { name, addresses } = cryptoRecord(network);
      const own = addresses.fault(address);
      // "is a Litecoin address" helps more than "fails its base58 checksum".
      return own && (foreignFault(address, name, addresses, families) ?? own);
    },
    canonicalAddress: (network, address) => cryptoRecord(network).addresses.canonical(address),
    canonicalTxHash: (network, hash) => cryptoRecord(network).addresses.canonicalTxHash(hash),
    numbersOutputs: (network) => cryptoRecord(network).addresses.numbersOutputs,
  };
}

type Recogniser = Pick<AddressFamily, 'chain' | 'recognise'>;

const NONE = { segwitPrefix: null, otherSegwitPrefixes: {}, otherBase58Versions: {}, privateKeyVersions: [] };

/** Chains without a record whose addresses are often sent by mistake. A refusal names them. */
const OTHER_CHAINS: readonly Recogniser[] = [
  utxoAddresses({ ...NONE, chain: 'Dogecoin', base58Versions: [0x1e, 0x16] }),
  utxoAddresses({ ...NONE, chain: 'Tron', base58Versions: [0x41] }),
];

/** What else the text is: a private key, an address of another chain or of a test network, or a URI. */
function foreignFault(
  address: string,
  network: string,
  own: AddressFamily,
  families: Iterable<AddressFamily>,
): Fault {
  const recognisers: readonly Recogniser[] = [own, ...families, ...OTHER_CHAINS];
  const found: { chain: string; form: Form }[] = [];
  for (const { chain, recognise } of recognisers) {
    const form = recognise(address);
    if (form !== undefined) found.push({ chain, form });
  }
  if (found.some(({ form }) => form === 'private key')) return 'is a private key, not an address';
  const [first] = found;
  if (first?.chain === own.chain) {
    return first.form === 'address' ? undefined : `is ${withArticle(first.chain)} ${first.form}`;
  }
  if (first !== undefined)
    return `is ${withArticle(first.chain)} ${first.form}, not ${withArticle(network)} one`;
  return !own.hasPrefix && address.includes(':') ? 'is a URI, give the bare address' : undefined;
}

function withArticle(name: string): string {
  return /^[AEIO]/.test(name) ? `an ${name}` : `a ${name}`;
}

export const NETWORKS = createNetworks({ crypto: CRYPTO_NETWORK_RECORDS, fiat: FIAT_KIND_RECORDS });
