import { type CommandLine, noArguments, show, table } from './command-line.ts';
import { CREDENTIALS_HELP, callService, SERVICE_OPTIONS } from './service.ts';

type Totals = {
  readonly at: string;
  readonly assets: readonly {
    readonly asset: string;
    readonly accounts: readonly {
      readonly account: string;
      readonly balance?: string;
      readonly balance_units?: string;
    }[];
    readonly total: string;
  }[];
};

/** Reading the books of the running service. */
export const BOOK_COMMANDS: readonly CommandLine[] = [
  {
    name: 'trial-balance',
    summary: 'print the balance of every account, by asset',
    usage: 'trial-balance [--at <time>] [--url <url>] [--json]',
    details: `The accounts of each asset sum to zero; otherwise it exits with 1.\n${CREDENTIALS_HELP}`,
    options: {
      at: { value: 'time', help: 'as they were at that time, such as 2026-01-15T00:00:00Z' },
      ...SERVICE_OPTIONS,
    },
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const { at } = invocation.options;
      const query = typeof at === 'string' ? `?${new URLSearchParams({ at }).toString()}` : '';
      const answer = await callService(invocation, 'GET', `/v2/operator/trial-balance${query}`);
      const totals = answer as unknown as Totals;
      const rows = totals.assets.flatMap(({ asset, accounts, total }) => [
        ...accounts.map((one) => [asset, one.account, one.balance ?? `${one.balance_units} units`]),
        [asset, 'TOTAL', total],
      ]);
      show(
        invocation,
        totals,
        `${table([['ASSET', 'ACCOUNT', 'BALANCE'], ...rows])}\nBalances at ${totals.at}`,
      );
      return totals.assets.every(({ total }) => total === '0') ? 0 : 1;
    },
  },
];
