import type { Database } from '../database/database.ts';
import type { Assets } from '../kernel/asset.ts';
import { formatInstant } from '../kernel/instant.ts';
import { type Route, route } from '../kernel/route.ts';
import { AmountOut, AssetCode, closed, DateTime, Id } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { SETTLEMENT_NETWORK } from './examples.ts';
import { obligationsOf, type SettledSet, settledSets } from './network.ts';
import { latestSettled, openSettlements } from './network-store.ts';
import { partiesOf, type Settlement } from './transaction.ts';

const ObligationShape = Type.Object(
  {
    from_profile_id: Id('The profile that pays'),
    from_customer_id: Id('Its owner'),
    to_profile_id: Id('The profile that receives'),
    to_customer_id: Id('Its owner'),
    asset: AssetCode('Asset'),
    amount: AmountOut('The net of all affirmed transactions between the two'),
    transactions: Type.Integer({ description: 'How many transactions it is the net of' }),
  },
  { ...closed, title: 'SettlementObligation' },
);

const SettledSetShape = Type.Object(
  {
    settled_at: DateTime('When they settled, in one commit'),
    transaction_ids: Type.Array(Id('A settlement transaction')),
    profile_ids: Type.Array(Id('A party')),
    assets: Type.Array(
      Type.Object(
        {
          asset: AssetCode('Asset'),
          gross: AmountOut('The sum of all legs'),
          net: AmountOut(
            'What the parties needed to have: less than the gross if netting resolved a gridlock',
          ),
        },
        { ...closed, title: 'SettledAmount' },
      ),
    ),
  },
  { ...closed, title: 'SettledSet' },
);

export const SettlementNetworkShape = Type.Object(
  {
    obligations: Type.Array(ObligationShape, {
      description: 'What affirmed transactions amount to, per pair of profiles and asset',
    }),
    settled_together: Type.Array(SettledSetShape, {
      description: `Sets of transactions, linked by their parties, that settled in one commit, newest first; at most ${LIMITS.settledSetsMax}`,
    }),
    complete: Type.Boolean({
      description: `False: more than ${LIMITS.settlementNetworkMax} transactions are open, and those whose window ends last are missing`,
    }),
  },
  { ...closed, title: 'SettlementNetwork' },
);

function presentSet({ atNs, transactions, assets: sums }: SettledSet, assets: Assets) {
  return {
    settled_at: formatInstant(atNs),
    transaction_ids: transactions.map(({ id }) => id),
    profile_ids: [...new Set(transactions.flatMap(partiesOf))],
    assets: sums.map(({ asset, grossUnits, netUnits }) => ({
      asset,
      gross: assets.format(asset, grossUnits),
      net: assets.format(asset, netUnits),
    })),
  };
}

function presentObligations(affirmed: readonly Settlement[], assets: Assets) {
  const owners = new Map(
    affirmed.flatMap((one) => [
      [one.sourceProfileId, one.customerId] as const,
      [one.targetProfileId, one.targetCustomerId] as const,
    ]),
  );
  return obligationsOf(affirmed).map(({ from, to, asset, units, transactions }) => ({
    from_profile_id: from,
    from_customer_id: owners.get(from)!,
    to_profile_id: to,
    to_customer_id: owners.get(to)!,
    asset,
    amount: assets.format(asset, units),
    transactions,
  }));
}

/** Who owes whom among all customers, for operators. */
export function networkRoute({ database, assets }: { database: Database; assets: Assets }): Route {
  return route({
    method: 'GET',
    path: '/v2/operator/settlement-network',
    operationId: 'getSettlementNetwork',
    tag: 'Operator',
    summary: 'See who owes whom, and what settled together',
    description:
      'The obligations between profiles of all customers that affirmed settlement transactions amount to, and the sets of transactions that the engine settled in one commit because each paid for another.',
    scope: 'operator:read',
    response: SettlementNetworkShape,
    problems: [],
    answer: SETTLEMENT_NETWORK,
    async handle() {
      const [open, settled] = await Promise.all([openSettlements(database), latestSettled(database)]);
      const affirmed = open.filter(({ status }) => status === 'AFFIRMED');
      return {
        body: {
          obligations: presentObligations(affirmed, assets),
          settled_together: settledSets(settled)
            .slice(0, LIMITS.settledSetsMax)
            .map((set) => presentSet(set, assets)),
          complete: open.length < LIMITS.settlementNetworkMax,
        },
      };
    },
  });
}
