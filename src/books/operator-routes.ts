import type { Assets } from '../kernel/asset.ts';
import { formatInstant } from '../kernel/instant.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { invalidField } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { isSystemKey, type LedgerEntry, systemEntriesOf } from '../ledger/entries.ts';
import { finalInstant } from '../ledger/finality.ts';
import { type AccountTotal, trialBalance } from '../ledger/trial-balance.ts';
import { presentCause } from './causes.ts';
import { SYSTEM_ENTRY, TRIAL_BALANCE } from './examples.ts';
import { directionOf, sizeOf } from './json.ts';
import { type BookDependencies, causesFor, readTime, requireFinal } from './routes.ts';
import {
  AccountParams,
  SystemEntriesQuery,
  SystemEntryList,
  TrialBalanceQuery,
  TrialBalanceShape,
} from './schema.ts';

const TAG = 'Operator';

/** Amounts of an asset that is not configured any more are shown in units. */
function presentTotals(totals: readonly AccountTotal[], assets: Assets) {
  const byAsset = Map.groupBy(totals, ({ asset }) => asset);
  return [...byAsset].map(([asset, accounts]) => {
    const isKnown = assets.find(asset) !== undefined;
    const format = (units: bigint): string => (isKnown ? assets.format(asset, units) : units.toString());
    return {
      asset,
      accounts: accounts.map(({ account, units }) =>
        isKnown ? { account, balance: format(units) } : { account, balance_units: format(units) },
      ),
      total: format(accounts.reduce((sum, { units }) => sum + units, 0n)),
    };
  });
}

function trialBalanceRoute({ database, assets }: BookDependencies): Route {
  return route({
    method: 'GET',
    path: '/v2/operator/trial-balance',
    operationId: 'getTrialBalance',
    tag: TAG,
    summary: 'Get the trial balance',
    description:
      'The balance of every account, by asset: `available` and `held` of all profiles together, and each account of the service (`fees`, `conversion`, `suspense`, `treasury`, `clearing:<rail>`). They sum to zero. With `at`, as they were at that time. It is read in many short statements, so it delays nothing; its cost grows with the number of balances, and with what happened since `at`.',
    scope: 'operator:read',
    query: TrialBalanceQuery,
    response: TrialBalanceShape,
    problems: [],
    answer: TRIAL_BALANCE,
    async handle({ query }) {
      const final = await finalInstant(database);
      const at = readTime(query.at, 'at') ?? final;
      requireFinal(at, final, 'at');
      const totals = await trialBalance(database, at, final);
      return { body: { at: formatInstant(at), assets: presentTotals(totals, assets) } };
    },
  });
}

function accountEntriesRoute(dependencies: BookDependencies): Route {
  const { database, assets } = dependencies;
  return route({
    method: 'GET',
    path: '/v2/operator/accounts/{account}/entries',
    operationId: 'listAccountEntries',
    tag: TAG,
    summary: 'List the entries of an account of the service',
    description:
      '`fees`, `conversion`, `suspense`, `treasury` or `clearing:<rail>`. `created_at` is the instant `at` of an entry.',
    scope: 'operator:read',
    params: AccountParams,
    query: SystemEntriesQuery,
    response: SystemEntryList,
    problems: [],
    answer: { items: [SYSTEM_ENTRY] },
    async handle({ params, query }) {
      const { account } = params;
      const { asset } = query;
      const page = readPage(query, `entries:${account}`, isSystemKey);
      if (assets.find(asset) === undefined)
        throw invalidField('/query/asset', `"${asset}" is not a known asset`);
      const found = await systemEntriesOf(database, account, asset, page);
      const causeOf = await causesFor(found.rows.slice(0, page.limit), dependencies);
      const present = ({ createdAtNs, ownerId, delta, causeId }: LedgerEntry) => ({
        at: formatInstant(createdAtNs),
        asset,
        account,
        direction: directionOf(delta),
        amount: assets.format(asset, sizeOf(delta)),
        // If no profile is involved, the entry is stored under its cause.
        ...(ownerId !== causeId && { profile_id: ownerId }),
        cause: presentCause(causeOf(causeId, ownerId)),
      });
      return { body: await pageOf(found, page, present) };
    },
  });
}

export function operatorBookRoutes(dependencies: BookDependencies): Route[] {
  return [trialBalanceRoute(dependencies), accountEntriesRoute(dependencies)];
}
