import { Amount, AmountOut, AssetCode, closed, DateTime, Id } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import type { Networks } from '../networks/register.ts';
import { cryptoNetworkName } from '../networks/schema.ts';

export const guaranteedFeeRequest = (networks: Networks) =>
  Type.Object(
    {
      asset: AssetCode('Asset to withdraw'),
      crypto_network: cryptoNetworkName(networks),
      destination_address: Type.String({ minLength: 1, description: 'Destination address' }),
      amount: Type.Optional(Amount('Amount to withdraw; exactly one of amount and total')),
      total: Type.Optional(Amount('Total to withdraw, including the fee; exactly one of amount and total')),
    },
    { ...closed, title: 'GuaranteedFeeRequest' },
  );

export const guaranteedFeeShape = (networks: Networks) =>
  Type.Object(
    {
      id: Id('Identifier, to be sent as fee_id'),
      asset: AssetCode('Asset to withdraw'),
      crypto_network: cryptoNetworkName(networks),
      destination_address: Type.String({ description: 'Destination address' }),
      amount: AmountOut('Largest amount that the fee is valid for'),
      total: AmountOut('amount and fee together'),
      fee: AmountOut('The guaranteed fee, in the asset'),
      expires_at: DateTime('The fee is valid until this time'),
    },
    { ...closed, title: 'GuaranteedFee' },
  );
