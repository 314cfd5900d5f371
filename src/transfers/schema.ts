import { listQuery, listShape, One, Several } from '../kernel/paging.ts';
import {
  Amount,
  AmountOut,
  AssetCode,
  closed,
  DateTime,
  Id,
  Metadata,
  ProblemShape,
  RefId,
} from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { NETWORKS, type Networks } from '../networks/register.ts';
import { cryptoNetworkName, transferTypeName, withProperties } from '../networks/schema.ts';
import { TRANSFER_STATUSES } from './transfer.ts';

/** Shapes with names of the register: the product's, and a function that makes the same shape for another register. */
const CryptoNetworkName = cryptoNetworkName(NETWORKS);
const TransferTypeName = transferTypeName(NETWORKS);
const TransferStatus = Type.Enum([...TRANSFER_STATUSES]);

export const TransferShape = Type.Object(
  {
    id: Id('Transfer identifier'),
    customer_id: Id('Customer identifier'),
    profile_id: Id('Profile whose balance is debited or credited'),
    amount: AmountOut('Amount sent in the transfer'),
    total: AmountOut('Unsigned balance change: amount - fee for deposits, amount + fee for withdrawals'),
    fee: AmountOut('Fee paid'),
    asset: AssetCode('Asset of the transfer'),
    direction: Type.Enum(['CREDIT', 'DEBIT']),
    type: TransferTypeName,
    status: TransferStatus,
    created_at: DateTime('Record creation time'),
    updated_at: DateTime('Last update time'),
    identity_id: Type.Optional(Id('Identity associated with the transfer')),
    ref_id: Type.Optional(RefId),
    balance_asset: Type.Optional(AssetCode('Asset whose balance was affected')),
    metadata: Type.Optional(Metadata),
    destination_address: Type.Optional(Type.String({ description: 'Destination crypto address' })),
    crypto_network: Type.Optional(CryptoNetworkName),
    crypto_tx_hash: Type.Optional(Type.String({ description: 'On-chain transaction hash' })),
    crypto_tx_index: Type.Optional(Type.String({ description: 'Output index or output address' })),
    account_id: Type.Optional(Id('Account associated with the transfer')),
    auto_conversion: Type.Optional(Type.Object({}, closed)),
    group_id: Type.Optional(Id('Links the debit and credit sides of an internal or platform transfer')),
    fiat_account_id: Type.Optional(Id('For fiat withdrawals, the fiat account paid to')),
    secondary_status: Type.Optional(
      Type.Object(
        {
          name: Type.String({ description: 'What the transfer is waiting for, or how it ended' }),
          detail: Type.String({ description: 'The same as a sentence' }),
        },
        closed,
      ),
    ),
    notional_value: Type.Optional(AmountOut('USD value of amount plus fee at transfer time')),
    memo: Type.Optional(Type.String({ description: 'Memo included with the transfer' })),
    status_details: Type.Optional(
      Type.Object(
        {
          max_rent_exceeded: Type.Optional(
            Type.Object({ message: Type.String(), destination_address: Type.String() }, closed),
          ),
        },
        closed,
      ),
    ),
  },
  { ...closed, title: 'Transfer' },
);

export const transferShape = (networks: Networks) =>
  withProperties(TransferShape, {
    type: transferTypeName(networks),
    crypto_network: Type.Optional(cryptoNetworkName(networks)),
  });

const INSIDE_TRANSFER = {
  from_profile_id: Id('Sending profile'),
  to_profile_id: Id('Destination profile'),
  amount: Amount('Amount to transfer'),
  asset: AssetCode('Asset to transfer'),
  metadata: Type.Optional(Metadata),
  recipient_metadata: Type.Optional(Metadata),
  from_identity_id: Type.Optional(Id('Identity of the sending user')),
  from_account_id: Type.Optional(Id('Account of the sending user; required for third-party integrations')),
  to_identity_id: Type.Optional(Id('Identity of the destination user')),
  to_account_id: Type.Optional(Id('Account of the destination user; required for third-party integrations')),
};

export const PlatformTransferRequest = Type.Object(
  { ...INSIDE_TRANSFER, ref_id: Type.Optional(RefId) },
  { ...closed, title: 'PlatformTransferRequest' },
);

/** Every transfer has a ref_id, so that the whole request can always be repeated. */
export const BulkTransferRequest = Type.Object(
  {
    transfers: Type.Array(
      Type.Object({ ...INSIDE_TRANSFER, ref_id: RefId }, { ...closed, title: 'BulkTransferItemRequest' }),
      {
        minItems: 1,
        maxItems: LIMITS.bulkTransfersMax,
        description:
          'Every `ref_id` is a different one. With `atomic`, executed in this order; otherwise in any order.',
      },
    ),
    atomic: Type.Optional(
      Type.Boolean({ description: 'All or none; otherwise each transfer is executed or refused by itself' }),
    ),
  },
  { ...closed, title: 'BulkTransferRequest' },
);

export const bulkShape = (networks: Networks) =>
  Type.Object(
    {
      results: Type.Array(
        Type.Object(
          {
            ref_id: RefId,
            status: Type.Integer({ description: 'The status that a request for this transfer alone has' }),
            replayed: Type.Optional(
              Type.Boolean({ description: '`true` if this is the record of an earlier, equal request' }),
            ),
            transfer: Type.Optional(transferShape(networks)),
            problem: Type.Optional(ProblemShape),
          },
          { ...closed, title: 'BulkTransferResult' },
        ),
        { description: 'One for each transfer, in the order of the request: `transfer` or `problem`' },
      ),
    },
    { ...closed, title: 'BulkTransferResults' },
  );

export const TransferListQuery = listQuery(
  {
    ids: Several(Id('Transfer'), 'Transfers with these ids'),
    ref_ids: Several(RefId, 'Transfers that were requested with these ref_ids'),
    profile_ids: Several(Id('Profile'), 'Transfers of these profiles'),
    account_ids: Several(Id('Account'), 'Transfers for these accounts'),
    identity_ids: Several(Id('Identity'), 'Transfers for these identities'),
    group_ids: Several(Id('Group'), 'Your sides of the transfers of these groups'),
    type: Several(TransferTypeName, 'Transfers of these types'),
    statuses: Several(TransferStatus, 'Transfers in these states'),
    identity_id: One(Id('Identity'), 'Transfers for this identity'),
    assets: Several(AssetCode('Asset'), 'Transfers of these assets'),
    secondary_statuses: Several(
      Type.String({ minLength: 1, maxLength: LIMITS.secondaryStatusLengthMax }),
      'Transfers whose `secondary_status` has one of these names',
    ),
    crypto_tx_hashes: Several(
      Type.String({ pattern: '^[!-~]*$', minLength: 1, maxLength: LIMITS.cryptoTxHashMax }),
      'Transfers with these on-chain transactions',
    ),
  },
  ['created_at', 'updated_at'],
);

export const transferListQuery = (networks: Networks) =>
  withProperties(TransferListQuery, {
    type: Several(transferTypeName(networks), 'Transfers of these types'),
  });

export const transferListShape = (networks: Networks) => listShape(transferShape(networks), 'TransferList');
