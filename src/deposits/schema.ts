import { listQuery, listShape, One, Several } from '../kernel/paging.ts';
import { AmountOut, closed, DateTime, Id, Metadata, RefId } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import type { Networks } from '../networks/register.ts';
import { cryptoNetworkName, fiatNetworkName, instructionsShape } from '../networks/schema.ts';
import { SUSPENSE_STATUSES } from './suspense-deposit.ts';

const asked = {
  profile_id: Id('Profile to credit'),
  ref_id: Type.Optional(RefId),
  identity_id: Type.Optional(Id('Identity of the user who deposits')),
  account_id: Type.Optional(Id('Account of that identity')),
  metadata: Type.Optional(Metadata),
};

const answered = {
  ...asked,
  id: Id('Identifier'),
  customer_id: Id('Customer identifier'),
  created_at: DateTime('Creation time'),
};

export const depositAddressRequest = (networks: Networks) =>
  Type.Object(
    { ...asked, crypto_network: cryptoNetworkName(networks) },
    { ...closed, title: 'DepositAddressRequest' },
  );

export const depositAddressShape = (networks: Networks) =>
  Type.Object(
    {
      ...answered,
      crypto_network: cryptoNetworkName(networks),
      address: Type.String({ description: 'Address to send to; accepts every asset of the network' }),
    },
    { ...closed, title: 'DepositAddress' },
  );

export const depositInstructionsRequest = (networks: Networks) =>
  Type.Object(
    { ...asked, fiat_network: fiatNetworkName(networks) },
    { ...closed, title: 'FiatDepositInstructionsRequest' },
  );

export const depositInstructionsShape = (networks: Networks) =>
  Type.Object(
    {
      ...answered,
      fiat_network: fiatNetworkName(networks),
      memo_id: Type.String({
        description: 'Has to be in the memo of the payment: it identifies the profile',
      }),
      fiat_network_instructions: instructionsShape(networks, 'whole'),
    },
    { ...closed, title: 'FiatDepositInstructions' },
  );

const filters = {
  ids: Several(Id('Identifier'), 'With these ids'),
  ref_ids: Several(RefId, 'Requested with these ref_ids'),
  profile_ids: Several(Id('Profile'), 'Of these profiles'),
  identity_id: One(Id('Identity'), 'Of this identity'),
  identity_ids: Several(Id('Identity'), 'Of these identities'),
};

export const depositAddressListQuery = (networks: Networks) =>
  listQuery({ ...filters, crypto_networks: Several(cryptoNetworkName(networks), 'On these networks') }, [
    'created_at',
  ]);
export const depositAddressList = (networks: Networks) =>
  listShape(depositAddressShape(networks), 'DepositAddressList');

export const DepositInstructionsListQuery = listQuery(filters, ['created_at']);
export const depositInstructionsList = (networks: Networks) =>
  listShape(depositInstructionsShape(networks), 'FiatDepositInstructionsList');

export const SuspenseDepositShape = Type.Object(
  {
    id: Id('Identifier'),
    rail: Type.String({ description: 'Rail that it arrived over' }),
    account: Type.Optional(Type.String({ description: "The operator's own bank account that was paid" })),
    reference: Type.String({ description: "Transaction and output, or the bank's reference" }),
    asset: Type.String({ description: 'Asset that arrived, as the rail names it', examples: ['USD'] }),
    amount: Type.Optional(AmountOut('Amount that arrived; absent while the asset is not configured')),
    amount_units: Type.String({ description: 'The amount in the smallest unit of the asset' }),
    sent_to: Type.String({ description: 'The address, or the memo' }),
    reason: Type.String({ description: 'Why it was not credited' }),
    created_at: DateTime('When it was recorded'),
    transfer_id: Type.Optional(Id('The transfer that credited it')),
    returned_by: Type.Optional(Id('The journal entry that returned it to its sender')),
    journal_entry_id: Type.Optional(Id('The journal entry that put the value into suspense')),
  },
  { ...closed, title: 'SuspenseDeposit' },
);
export const SuspenseListQuery = listQuery(
  {
    ids: Several(Id('Suspense deposit'), 'Only these'),
    statuses: Several(Type.Enum([...SUSPENSE_STATUSES]), 'OPEN: neither credited nor returned to the sender'),
  },
  ['created_at'],
);
export const SuspenseList = listShape(SuspenseDepositShape, 'SuspenseDepositList');
