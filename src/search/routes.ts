import type { Database } from '../database/database.ts';
import type { Assets } from '../kernel/asset.ts';
import { ID_PATTERN } from '../kernel/id.ts';
import { formatInstant } from '../kernel/instant.ts';
import { type Route, route } from '../kernel/route.ts';
import { LIMITS } from '../limits.ts';
import type { Networks } from '../networks/register.ts';
import { sideIds } from '../transfers/transfer.ts';
import { SEARCH_HIT } from './examples.ts';
import { SearchQuery, SearchShape } from './schema.ts';
import { type AmountOf, type Hit, hitsByAmount, hitsById, hitsByText, idsByRefId } from './store.ts';

export type SearchDependencies = {
  readonly database: Database;
  readonly assets: Assets;
  readonly networks: Networks;
};

const ID = new RegExp(ID_PATTERN);
const AMOUNT = /^([0-9]{1,40}(?:\.[0-9]{1,30})?)(?:\s+([A-Za-z0-9_]{1,20}))?$/;

/** What the text can be as an amount: of the asset that it names, or of any. */
function amountsOf(text: string, assets: Assets): AmountOf[] {
  const [, amount, named] = AMOUNT.exec(text.replaceAll(',', '')) ?? [];
  if (amount === undefined) return [];
  return assets.list
    .filter(({ code }) => named === undefined || code === named.toUpperCase())
    .flatMap(({ code }) => {
      const parsed = assets.parse(code, amount);
      return parsed.ok ? [{ asset: code, units: parsed.units }] : [];
    });
}

/** An id finds only what has it. Other texts can be several things at once. */
async function hitsOf({ database, assets, networks }: SearchDependencies, text: string): Promise<Hit[]> {
  const lower = text.toLowerCase();
  if (ID.test(lower)) return hitsById(database, [lower, ...sideIds(lower)]);
  const amounts = amountsOf(text, assets);
  const [ids, byText, byAmount] = await Promise.all([
    idsByRefId(database, text),
    hitsByText(database, text, networks.cryptoNetworks),
    amounts.length === 0 ? [] : hitsByAmount(database, amounts),
  ]);
  const byRefId =
    ids.length === 0
      ? []
      : await hitsById(
          database,
          ids.flatMap((id) => [id, ...sideIds(id)]),
        );
  return [...byRefId.map((hit) => ({ ...hit, matched: 'REF_ID' as const })), ...byText, ...byAmount];
}

function present(hit: Hit, assets: Assets) {
  const { type, id, matched, customerId, label, status, asset, units, createdAtNs } = hit;
  const isKnown = asset !== null && assets.find(asset) !== undefined;
  return {
    type,
    id,
    matched,
    ...(customerId !== null && { customer_id: customerId }),
    label,
    ...(status !== null && { status }),
    ...(isKnown && { asset, ...(units !== null && { amount: assets.format(asset, units) }) }),
    created_at: formatInstant(createdAtNs),
  };
}

export function searchRoute(dependencies: SearchDependencies): Route {
  return route({
    method: 'GET',
    path: '/v2/operator/search',
    operationId: 'searchEverything',
    tag: 'Operator',
    summary: 'Find something of any customer',
    description:
      'By id, ref_id, transaction hash, deposit address, name of a customer, or amount. Texts must be whole, apart from names and references of deposits in suspense.',
    scope: 'operator:read',
    query: SearchQuery,
    response: SearchShape,
    problems: [],
    answer: { items: [SEARCH_HIT], complete: true },
    async handle({ query }) {
      const found = await hitsOf(dependencies, query.text.trim());
      const unique = [...new Map(found.map((hit) => [`${hit.type} ${hit.id}`, hit])).values()];
      const newest = unique.sort((left, right) => (left.createdAtNs < right.createdAtNs ? 1 : -1));
      const items = newest.slice(0, LIMITS.searchHitsMax);
      const complete = unique.length <= items.length && !found.some(({ matched }) => matched === 'AMOUNT');
      return { body: { items: items.map((hit) => present(hit, dependencies.assets)), complete } };
    },
  });
}
