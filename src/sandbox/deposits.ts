import { type Route, route } from '../kernel/route.ts';
import { Amount, AssetCode, closed, IdParams, Metadata, RefId } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { NETWORKS } from '../networks/register.ts';
import { cryptoNetworkName, withProperties } from '../networks/schema.ts';
import type { TransferAccess } from '../transfers/access.ts';
import { transferShape } from '../transfers/schema.ts';
import { type DepositTables, depositCommand } from './deposit.ts';
import { SIMULATED_DEPOSIT } from './examples.ts';

export const SandboxDepositRequest = Type.Object(
  {
    asset: AssetCode('Asset to deposit'),
    amount: Amount('Amount to deposit'),
    crypto_network: Type.Optional(cryptoNetworkName(NETWORKS)),
    ref_id: Type.Optional(RefId),
    metadata: Type.Optional(Metadata),
  },
  { ...closed, title: 'SandboxDepositRequest' },
);

/** Deposits without a payer, for trying out the API. */
export function sandboxDepositRoutes(
  transfers: Pick<TransferAccess, 'create'>,
  tables: DepositTables,
): Route[] {
  const { networks } = tables;
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
      body: withProperties(SandboxDepositRequest, {
        crypto_network: Type.Optional(cryptoNetworkName(networks)),
      }),
      response: transferShape(networks),
      problems: ['exceeds-precision', 'forbidden', 'not-found', 'already-exists'],
      example: { asset: 'BTC', crypto_network: 'BITCOIN', amount: '2', ref_id: 'deposit-0001' },
      answer: SIMULATED_DEPOSIT,
      handle: ({ caller, params, body }) => {
        const deposit = { ...body, profile_id: params.id };
        return transfers.create(caller.customerId, depositCommand(caller, deposit, tables));
      },
    }),
  ];
}
