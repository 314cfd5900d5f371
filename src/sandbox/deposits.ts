import { Type } from 'typebox';
import { CryptoNetworkName } from '../fees/schema.ts';
import { type Route, route } from '../kernel/route.ts';
import { Amount, AssetCode, closed, IdParams, Metadata, RefId } from '../kernel/shapes.ts';
import type { TransferAccess } from '../transfers/access.ts';
import { TransferShape } from '../transfers/schema.ts';
import { type DepositTables, depositCommand } from './deposit.ts';
import { SIMULATED_DEPOSIT } from './examples.ts';

export const SandboxDepositRequest = Type.Object(
  {
    asset: AssetCode('Asset to deposit'),
    amount: Amount('Amount to deposit'),
    crypto_network: Type.Optional(CryptoNetworkName),
    ref_id: Type.Optional(RefId),
    metadata: Type.Optional(Metadata),
  },
  { ...closed, title: 'SandboxDepositRequest' },
);

/** Deposits without a payer, to try things out with. */
export function sandboxDepositRoutes(
  transfers: Pick<TransferAccess, 'create'>,
  tables: DepositTables,
): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v2/sandbox/profiles/{id}/deposit',
      operationId: 'simulateDeposit',
      tag: 'Sandbox',
      summary: 'Simulate a deposit',
      description:
        'Credits a profile as if a wire (USD) or an on-chain payment had arrived. `crypto_network` is required if the asset is on several networks.',
      scope: 'sandbox:simulate',
      sandboxOnly: true,
      params: IdParams,
      body: SandboxDepositRequest,
      response: TransferShape,
      problems: ['exceeds-precision', 'forbidden', 'not-found', 'already-exists'],
      example: { asset: 'BTC', crypto_network: 'BITCOIN', amount: '2', ref_id: 'deposit-0001' },
      answer: SIMULATED_DEPOSIT,
      handle: ({ caller, params, body }) => {
        const deposit = { ...body, profile_id: params.id };
        return transfers.create(caller.customerId, depositCommand(caller.customerId, deposit, tables));
      },
    }),
  ];
}
