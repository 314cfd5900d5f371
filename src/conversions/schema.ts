import { listQuery, listShape, Several } from '../kernel/paging.ts';
import { Amount, AmountOut, AssetCode, closed, DateTime, Id, Metadata, RefId } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';

const asked = {
  profile_id: Id('Profile whose balances change'),
  source_asset: AssetCode('Asset that is debited'),
  target_asset: AssetCode('Asset that is credited'),
  ref_id: Type.Optional(RefId),
  identity_id: Type.Optional(Id('Identity of the user who converts')),
  account_id: Type.Optional(Id('Account of that identity')),
  metadata: Type.Optional(Metadata),
};

export const ConversionRequest = Type.Object(
  { ...asked, amount: Amount('Amount to convert, the same in both assets') },
  { ...closed, title: 'StablecoinConversionRequest' },
);

export const ConversionShape = Type.Object(
  {
    ...asked,
    id: Id('Conversion identifier'),
    customer_id: Id('Customer identifier'),
    amount: AmountOut('Amount that was converted, the same in both assets'),
    status: Type.Enum(['SETTLED'], { description: 'Both balances have changed' }),
    created_at: DateTime('When it was settled'),
  },
  { ...closed, title: 'StablecoinConversion' },
);

export const ConversionQuery = listQuery(
  {
    ids: Several(Id('Conversion'), 'Conversions with these ids'),
    ref_ids: Several(RefId, 'Conversions that were requested with these ref_ids'),
    profile_ids: Several(Id('Profile'), 'Conversions of these profiles'),
  },
  ['created_at'],
);

export const ConversionList = listShape(ConversionShape, 'StablecoinConversionList');
