import { Type } from '../../src/kernel/type.ts';
import type { CryptoNetworkRecord } from '../../src/networks/crypto.ts';
import { EVM_ADDRESSES } from '../../src/networks/evm.ts';
import { type FiatKindRecord, fiatKind } from '../../src/networks/fiat.ts';
import { ACCOUNT_NUMBER, RoutingDetailsShape } from '../../src/networks/instructions.ts';
import { createNetworks } from '../../src/networks/register.ts';
import { utxoAddresses } from '../../src/networks/utxo.ts';

/** Records that the product does not have. */

export const OPTIMISM: CryptoNetworkRecord = {
  name: 'Optimism',
  native: { asset: 'ETH', decimals: 18 },
  addresses: EVM_ADDRESSES,
  confirmations: 84,
  blockMs: 2_000,
  withdrawalFees: { ETH: '0.0002' },
};

export const DOGECOIN_ADDRESSES = utxoAddresses({
  chain: 'Dogecoin',
  segwitPrefix: null,
  base58Versions: [0x1e, 0x16],
  otherSegwitPrefixes: {},
  otherBase58Versions: { 113: 'testnet address' },
  privateKeyVersions: [0x9e],
});

export const DOGECOIN: CryptoNetworkRecord = {
  name: 'Dogecoin',
  native: { asset: 'DOGE', decimals: 8 },
  addresses: DOGECOIN_ADDRESSES,
  confirmations: 40,
  blockMs: 60_000,
  withdrawalFees: { DOGE: '2' },
};

export const RTP = fiatKind({
  withdrawalType: 'RTP_WITHDRAWAL',
  depositType: 'RTP_DEPOSIT',
  memoLengthMax: 7,
  withdrawalFee: '0.5',
  delayMs: 5_000,
  instructions: {
    account: ACCOUNT_NUMBER,
    details: {
      routing_details: RoutingDetailsShape('The bank that holds the account'),
      nickname: Type.Optional(Type.String()),
    },
  },
  sandboxInstructions: {
    account_number: '4000987654',
    routing_details: {
      routing_number_type: 'ABA',
      routing_number: '021000021',
      bank_name: 'Sandbox Bank',
      bank_address: { country: 'US' },
    },
  },
});

/** Never called: the compiler checks that a record with a missing part is a type error. */
export function typeErrors(): void {
  const { addresses: _addresses, ...withoutAddresses } = OPTIMISM;
  // @ts-expect-error: address rules are missing
  createNetworks({ crypto: { OPTIMISM: withoutAddresses }, fiat: {} });
  const { confirmations: _confirmations, ...withoutConfirmations } = OPTIMISM;
  // @ts-expect-error: the confirmations are missing
  createNetworks({ crypto: { OPTIMISM: withoutConfirmations }, fiat: {} });
  // @ts-expect-error: the version bytes of base58 addresses are missing
  utxoAddresses({ chain: 'Dogecoin', segwitPrefix: null });
  const { instructions: _instructions, ...withoutInstructions } = RTP as FiatKindRecord;
  // @ts-expect-error: the fields of the instructions are missing
  createNetworks({ crypto: {}, fiat: { rtp: withoutInstructions } });
  // @ts-expect-error: the sandbox's account has no routing details
  fiatKind({ ...RTP, sandboxInstructions: { account_number: '1' } });
}
