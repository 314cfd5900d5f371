import { Type } from 'typebox';
import { CRYPTO_NETWORKS } from '../kernel/address.ts';
import { Amount, AmountOut, AssetCode, closed, DateTime, Id } from '../kernel/shapes.ts';

export const CryptoNetworkName = Type.Enum([...CRYPTO_NETWORKS], { description: 'Crypto network' });

export const GuaranteedFeeRequest = Type.Object(
  {
    asset: AssetCode('Asset to withdraw'),
    crypto_network: CryptoNetworkName,
    destination_address: Type.String({ description: 'Destination address' }),
    amount: Type.Optional(Amount('Amount to withdraw; exactly one of amount and total')),
    total: Type.Optional(Amount('Total to withdraw, including the fee; exactly one of amount and total')),
  },
  { ...closed, title: 'GuaranteedFeeRequest' },
);

export const GuaranteedFeeShape = Type.Object(
  {
    id: Id('Identifier, to be sent as fee_id'),
    asset: AssetCode('Asset to withdraw'),
    crypto_network: CryptoNetworkName,
    destination_address: Type.String({ description: 'Destination address' }),
    amount: AmountOut('Largest amount that the fee is valid for'),
    total: AmountOut('amount and fee together'),
    fee: AmountOut('The fee that is guaranteed, in the asset'),
    expires_at: DateTime('The fee is valid until then'),
  },
  { ...closed, title: 'GuaranteedFee' },
);
