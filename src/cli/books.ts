import { readFileSync } from 'node:fs';
import {
  CommandError,
  type CommandLine,
  noArguments,
  show,
  table,
  text,
  UsageError,
} from './command-line.ts';
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

/** The file as text. Bytes that are not UTF-8 would become other references. */
function contentOf(file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    throw new CommandError(`${file} cannot be read as UTF-8 text: ${(error as Error).message}`);
  }
}

const closing = ({ closing_difference: difference }: Record<string, unknown>): string =>
  typeof difference === 'string' ? `; closing balance less that of the ledger: ${difference}` : '';

/** Reading and reconciling the books of the running service. */
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
  {
    name: 'reconcile import',
    summary: 'import a statement of a bank for an account of the service',
    usage:
      'reconcile import <file> --account <account> [--format <format>] [--statement-id <id>] [--url <url>] [--json]',
    details: `Its lines are matched with the ledger; GET /v2/operator/reconciliations/unmatched lists the others.\n${CREDENTIALS_HELP}`,
    options: {
      account: { value: 'account', help: 'clearing:<rail> or treasury' },
      format: { value: 'format', help: 'CAMT053 or CSV; default by the ending of the file' },
      'statement-id': { value: 'id', help: "the bank's id of the statement; of a camt.053 its own" },
      ...SERVICE_OPTIONS,
    },
    json: true,
    async run(invocation) {
      const [file, extra] = invocation.positionals;
      if (file === undefined || extra !== undefined) throw new UsageError('Expected one file.');
      const { format, 'statement-id': statementId } = invocation.options;
      const body = {
        account: text(invocation, 'account'),
        format: format ?? (file.toLowerCase().endsWith('.csv') ? 'CSV' : 'CAMT053'),
        ...(statementId !== undefined && { statement_id: statementId }),
        content: contentOf(file),
      };
      const answer = await callService(invocation, 'POST', '/v2/operator/reconciliations', body);
      show(
        invocation,
        answer,
        `Imported statement ${String(answer.statement_id)} of ${String(answer.account)}: ${String(answer.line_count)} lines${closing(answer)}`,
      );
      return 0;
    },
  },
  {
    name: 'reconcile balance',
    summary: 'compare the balance of a bank or chain with the ledger',
    usage:
      'reconcile balance <balance> --account <account> --asset <asset> --at <time> --reference <text> [--url <url>] [--json]',
    details: `Exits with 1 if a part of the difference is not explained by what is on one side only.\n${CREDENTIALS_HELP}`,
    options: {
      account: { value: 'account', help: 'clearing:<rail> or treasury' },
      asset: { value: 'asset', help: 'its asset, such as BTC' },
      at: { value: 'time', help: 'when the balance was that, such as 2026-01-15T00:00:00Z' },
      reference: { value: 'text', help: 'the statement, or the block' },
      ...SERVICE_OPTIONS,
    },
    json: true,
    async run(invocation) {
      const [balance, extra] = invocation.positionals;
      if (balance === undefined || extra !== undefined) throw new UsageError('Expected one balance.');
      const body = {
        account: text(invocation, 'account'),
        asset: text(invocation, 'asset'),
        at: text(invocation, 'at'),
        reference: text(invocation, 'reference'),
        balance,
      };
      const answer = await callService(invocation, 'POST', '/v2/operator/reconciliations/balances', body);
      const [outside, ledger] = [String(answer.balance), String(answer.ledger_balance)];
      const line = `${body.account}: ${outside} ${body.asset} outside, ${ledger} in the ledger`;
      const rest = `difference ${String(answer.difference)}, unexplained ${String(answer.unexplained)}`;
      show(invocation, answer, `${line}; ${rest}`);
      return answer.unexplained === '0' ? 0 : 1;
    },
  },
];
