import type { AddressFamily } from './addresses.ts';
import { BITCOIN_CASH_ADDRESSES } from './cashaddr.ts';
import { EVM_ADDRESSES } from './evm.ts';
import { SOLANA_ADDRESSES } from './solana.ts';
import { utxoAddresses } from './utxo.ts';

/** Everything that Ferry knows about a crypto network. To add a network, add a record to the table below. */
export type CryptoNetworkRecord = {
  /** As people call it. */
  readonly name: string;
  /** Its own coin. Which tokens are on it is configuration. */
  readonly native: { readonly asset: string; readonly decimals: number };
  readonly addresses: AddressFamily;
  /** Blocks until a payment is final. */
  readonly confirmations: number;
  /** Time between two blocks. */
  readonly blockMs: number;
  /** Default fee of a withdrawal, by asset, in that asset. */
  readonly withdrawalFees: Readonly<Record<string, string>>;
  /** EVM: the bounds on the tip unless the configuration says otherwise, in gwei. Absent: those of the kind `evm`. */
  readonly tipGwei?: { readonly min: string; readonly max: string };
  /** What the first payment of a token to a new recipient costs, in units of the native coin; absent: nothing. */
  readonly tokenAccountRentUnits?: bigint;
};

export const CRYPTO_TRANSFER_TYPES = { withdrawal: 'CRYPTO_WITHDRAWAL', deposit: 'CRYPTO_DEPOSIT' } as const;

const BITCOIN_ADDRESSES = utxoAddresses({
  chain: 'Bitcoin',
  segwitPrefix: 'bc',
  base58Versions: [0x00, 0x05],
  otherSegwitPrefixes: { tb: 'testnet address', bcrt: 'regtest address' },
  otherBase58Versions: { 111: 'testnet address', 196: 'testnet address' },
  privateKeyVersions: [0x80, 0xef],
});

const LITECOIN_ADDRESSES = utxoAddresses({
  chain: 'Litecoin',
  segwitPrefix: 'ltc',
  base58Versions: [0x30, 0x32],
  // Litecoin's first P2SH addresses are byte for byte Bitcoin's. The same script has an M form too, and only that form
  // shows that the payee meant Litecoin.
  ambiguous: {
    version: 0x05,
    instead: 'begins with 3 as a Bitcoin address does, give its form that begins with M',
  },
  otherSegwitPrefixes: { tltc: 'testnet address', rltc: 'regtest address', ltcmweb: 'MWEB address' },
  otherBase58Versions: { 58: 'testnet address', 111: 'testnet address', 196: 'testnet address' },
  privateKeyVersions: [0xb0, 0xef],
});

const ETHER = { asset: 'ETH', decimals: 18 } as const;

export const CRYPTO_NETWORK_RECORDS = {
  BITCOIN: {
    name: 'Bitcoin',
    native: { asset: 'BTC', decimals: 8 },
    addresses: BITCOIN_ADDRESSES,
    confirmations: 3,
    blockMs: 600_000,
    withdrawalFees: { BTC: '0.0001' },
  },
  ETHEREUM: {
    name: 'Ethereum',
    native: ETHER,
    addresses: EVM_ADDRESSES,
    confirmations: 12,
    blockMs: 12_000,
    withdrawalFees: { ETH: '0.001', USDC: '2', PUSD: '2' },
  },
  BITCOIN_CASH: {
    name: 'Bitcoin Cash',
    native: { asset: 'BCH', decimals: 8 },
    addresses: BITCOIN_CASH_ADDRESSES,
    confirmations: 15,
    blockMs: 600_000,
    withdrawalFees: { BCH: '0.0001' },
  },
  LITECOIN: {
    name: 'Litecoin',
    native: { asset: 'LTC', decimals: 8 },
    addresses: LITECOIN_ADDRESSES,
    confirmations: 20,
    blockMs: 150_000,
    withdrawalFees: { LTC: '0.001' },
  },
  SOLANA: {
    name: 'Solana',
    native: { asset: 'SOL', decimals: 9 },
    addresses: SOLANA_ADDRESSES,
    confirmations: 32,
    blockMs: 400,
    withdrawalFees: { SOL: '0.001', USDC: '0.5', PUSD: '0.5' },
    // A token account has 165 bytes; this balance makes it exempt from rent.
    tokenAccountRentUnits: 2_039_280n,
  },
  POLYGON_POS: {
    name: 'Polygon',
    native: { asset: 'POL', decimals: 18 },
    addresses: EVM_ADDRESSES,
    confirmations: 256,
    blockMs: 2_000,
    withdrawalFees: { POL: '0.1', USDC: '0.1' },
    // Its nodes refuse less than 25 gwei, and blocks often ask for more than 30.
    tipGwei: { min: '30', max: '500' },
  },
  BASE: {
    name: 'Base',
    native: ETHER,
    addresses: EVM_ADDRESSES,
    confirmations: 84,
    blockMs: 2_000,
    withdrawalFees: { ETH: '0.0001', USDC: '0.1', PUSD: '0.1' },
  },
  ARBITRUM_ONE: {
    name: 'Arbitrum',
    native: ETHER,
    addresses: EVM_ADDRESSES,
    confirmations: 40,
    blockMs: 250,
    withdrawalFees: { ETH: '0.0001', USDC: '0.1' },
  },
  INK: {
    name: 'Ink',
    native: ETHER,
    addresses: EVM_ADDRESSES,
    confirmations: 84,
    blockMs: 1_000,
    withdrawalFees: { ETH: '0.0001' },
  },
} as const satisfies Readonly<Record<string, CryptoNetworkRecord>>;

export type CryptoNetwork = keyof typeof CRYPTO_NETWORK_RECORDS;
