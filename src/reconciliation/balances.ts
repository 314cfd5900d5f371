import type { Database } from '../database/database.ts';
import { recordChange } from '../events/append.ts';
import { type Actor, actorOf } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import { formatInstant, type Instant, NOT_AN_INSTANT, parseInstant } from '../kernel/instant.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { invalidField, Problem } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { finalInstant } from '../ledger/finality.ts';
import { systemBalanceAt } from '../ledger/trial-balance.ts';
import { insertBalance, listBalances, type OutsideBalance, openUnits } from './balance-store.ts';
import { BALANCE, BALANCE_REQUEST } from './examples.ts';
import { outsideUnits, signedAmount } from './rules.ts';
import { BalanceList, BalanceQuery, BalanceRequest, BalanceShape } from './schema.ts';

type Dependencies = { readonly database: Database; readonly assets: Assets };

async function present(balance: OutsideBalance, { database, assets }: Dependencies) {
  const { id, account, asset, atNs, reference, units, ledgerUnits, actor, createdAtNs } = balance;
  const open = await openUnits(database, balance);
  const shown = (value: bigint): string => signedAmount(assets, asset, value);
  return {
    id,
    account,
    asset,
    at: formatInstant(atNs),
    reference,
    balance: shown(units),
    ledger_balance: shown(ledgerUnits),
    difference: shown(units - ledgerUnits),
    unexplained: shown(units - ledgerUnits - open),
    actor,
    created_at: formatInstant(createdAtNs),
  };
}

export type Reported = Pick<OutsideBalance, 'account' | 'asset' | 'atNs' | 'reference' | 'units'> & {
  readonly by: Actor;
};

/** Compares with the ledger of the same time, and records both. Undefined if that time is not over yet. */
export async function recordBalance(
  database: Database,
  { by, ...reported }: Reported,
): Promise<{ readonly balance: OutsideBalance; readonly isNew: boolean } | undefined> {
  const { account, asset, atNs } = reported;
  const final = await finalInstant(database);
  if (atNs > final) return undefined;
  const ledger = await systemBalanceAt(database, { account, asset }, atNs, final);
  return database.transaction(async (tx) => {
    const facts = { ...reported, actor: by.id, ledgerUnits: outsideUnits(account, ledger) };
    const recorded = await insertBalance(tx, facts);
    const { id: resourceId, units, ledgerUnits } = recorded.balance;
    if (recorded.isNew)
      await recordChange(tx, by, {
        action: 'reconciliation_balance.reported',
        customerId: null,
        resourceId,
        after: {
          id: resourceId,
          account,
          asset,
          at: formatInstant(atNs),
          reference: reported.reference,
          units: units.toString(),
          ledger_units: ledgerUnits.toString(),
        },
      });
    return recorded;
  });
}

function readUnits(text: string, asset: string, assets: Assets): bigint {
  const isNegative = text.startsWith('-');
  const parsed = assets.parse(asset, isNegative ? text.slice(1) : text);
  if (!parsed.ok && !/^-?0(\.0+)?$/.test(text)) throw invalidField('/balance', parsed.message);
  const units = parsed.ok ? parsed.units : 0n;
  return isNegative ? -units : units;
}

function readAt(text: string): Instant {
  const at = parseInstant(text);
  if (at === undefined) throw invalidField('/at', NOT_AN_INSTANT);
  return at;
}

export function balanceRoutes(dependencies: Dependencies): Route[] {
  const { database, assets } = dependencies;
  return [
    route({
      method: 'POST',
      path: '/v2/operator/reconciliations/balances',
      operationId: 'reportBalance',
      tag: 'Operator',
      summary: 'Compare a balance of a bank or chain with the ledger',
      description:
        'What a bank, a wallet or a chain had at a time, for `clearing:<rail>` or `treasury`. `difference` is what it has more than the ledger at that time; `unexplained` is what remains of it without the items that are on one side only. The closing balance of an imported camt.053 is compared by itself.',
      scope: 'operator:journal',
      body: BalanceRequest,
      example: BALANCE_REQUEST,
      response: BalanceShape,
      problems: ['already-exists'],
      answer: BALANCE,
      async handle({ caller, body }) {
        const { account, asset, reference } = body;
        if (assets.find(asset) === undefined) throw invalidField('/asset', `"${asset}" is not a known asset`);
        const units = readUnits(body.balance, asset, assets);
        const reported = { account, asset, atNs: readAt(body.at), reference, units, by: actorOf(caller) };
        const recorded = await recordBalance(database, reported);
        if (recorded === undefined)
          throw invalidField(
            '/at',
            'must be at least two seconds in the past: later entries can still be made',
          );
        const existing = await present(recorded.balance, dependencies);
        if (recorded.balance.units === units) return { body: existing, replayed: !recorded.isNew };
        const detail = `Another balance of ${account} at ${existing.at} was reported under the reference "${reference}".`;
        throw new Problem('already-exists', detail, { existing, differs: ['balance'] });
      },
    }),
    route({
      method: 'GET',
      path: '/v2/operator/reconciliations/balances',
      operationId: 'listBalanceReports',
      tag: 'Operator',
      summary: 'List the balances that were compared',
      scope: 'operator:read',
      query: BalanceQuery,
      response: BalanceList,
      problems: [],
      answer: { items: [BALANCE] },
      async handle({ query }) {
        const page = readPage(query, 'reported-balances');
        const found = await listBalances(database, query.account, page);
        const rows = await Promise.all(
          found.rows.map(async (row) => ({ ...row, shown: await present(row, dependencies) })),
        );
        return { body: await pageOf({ ...found, rows }, page, ({ shown }) => shown) };
      },
    }),
  ];
}
