import { type Backlog, type Capability, OPERATOR_TAG } from '../kernel/capability.ts';
import { TREASURY_PROBLEMS } from './problem-examples.ts';
import { alarmsOn, signed, type TreasuryDependencies, treasuryRoutes } from './routes.ts';

function backlogsOf({ treasuries, assets }: TreasuryDependencies): Backlog[] {
  return [
    {
      gauges: { ferry_treasury_alarms: 'Alarms of wallets, by reason.' },
      labels: ['rail', 'asset', 'reason'],
      async read() {
        const all = (await Promise.all(treasuries.map((one) => alarmsOn(one, assets)))).flat();
        const counts = Map.groupBy(all, ({ rail, asset = '', reason }) => `${rail} ${asset} ${reason}`);
        return [...counts.values()].map((same) => {
          const { rail, asset = '', reason } = same[0]!;
          return { rail, asset, reason, ferry_treasury_alarms: same.length };
        });
      },
    },
    {
      gauges: {
        ferry_treasury_hot: 'What the hot wallet holds, in whole units of the asset.',
        ferry_treasury_difference:
          'What the chain has more than the ledger, without what is in flight, in whole units of the asset.',
      },
      labels: ['rail', 'asset'],
      async read() {
        const all = treasuries.map(async ({ rail, wallets }) =>
          (await wallets()).map(({ asset, hotUnits, differenceUnits }) => ({
            rail,
            asset,
            ferry_treasury_hot: assets.format(asset, hotUnits),
            ferry_treasury_difference: signed(assets, asset, differenceUnits),
          })),
        );
        return (await Promise.all(all)).flat();
      },
    },
  ];
}

/** Where the money is: wallets of chains and accounts of banks, beside the ledger. */
export function createTreasury(dependencies: TreasuryDependencies): Capability {
  return {
    name: 'treasury',
    routes: treasuryRoutes(dependencies),
    tags: OPERATOR_TAG,
    problemExamples: TREASURY_PROBLEMS,
    backlogs: backlogsOf(dependencies),
  };
}
