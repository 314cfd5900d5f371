import { type Route, route } from '../kernel/route.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { LIMITS } from '../limits.ts';
import { quoteOf } from '../rails/call.ts';
import type { Rails } from '../rails/rail.ts';
import { assetsRoute } from './assets.ts';
import { GUARANTEED_FEE } from './examples.ts';
import { type FeeTables, guaranteedFeeCommand, presentGuaranteedFee } from './guaranteed-fee.ts';
import { guaranteedFeeRequest, guaranteedFeeShape } from './schema.ts';

export type FeeDependencies = FeeTables & { readonly writePath: WritePath; readonly rails: Rails };

export function feeRoutes(dependencies: FeeDependencies): Route[] {
  const { writePath, assets, networks, rails } = dependencies;
  return [
    assetsRoute(dependencies),
    route({
      method: 'POST',
      path: '/v2/transfer/fees/crypto-withdrawal',
      operationId: 'createCryptoWithdrawalFee',
      tag: 'Fees',
      summary: 'Guarantee the fee of a crypto withdrawal',
      description:
        'Fixes the fee of one crypto withdrawal for 15 minutes: same asset, network and destination, at most the quoted amount. Send its id as fee_id.',
      scope: 'fee:write_crypto_withdrawal_fee',
      body: guaranteedFeeRequest(networks),
      response: guaranteedFeeShape(networks),
      problems: ['exceeds-precision'],
      example: {
        asset: 'BTC',
        crypto_network: 'BITCOIN',
        destination_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
        amount: '0.05',
      },
      answer: GUARANTEED_FEE,
      examine: (caller, body) => void guaranteedFeeCommand(caller, body, dependencies, 0n),
      async handle({ caller, body }) {
        const rail = rails.find(body.crypto_network);
        // If the rail does not answer in time, the fee of the schedule applies.
        const cost = rail && (await quoteOf(rail, body.asset, LIMITS.railQuoteTimeoutMs));
        const outcome = await writePath.submit(guaranteedFeeCommand(caller, body, dependencies, cost ?? 0n));
        // Without an idempotency key there is no replay.
        if (outcome.replayed) throw new Error('a guaranteed fee was answered as a replay');
        return { body: presentGuaranteedFee(outcome.answer, assets) as never };
      },
    }),
  ];
}
