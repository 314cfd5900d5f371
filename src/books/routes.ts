import type { CustomerReads, Database } from '../database/database.ts';
import type { Assets } from '../kernel/asset.ts';
import { formatInstant, type Instant, parseComparable } from '../kernel/instant.ts';
import { acceptable } from '../kernel/media-types.ts';
import { NOT_A_TIME, pageOf, readPage } from '../kernel/paging.ts';
import { createPlaces } from '../kernel/places.ts';
import { invalidField, notFound } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { balancesAt } from '../ledger/balances.ts';
import { entriesOf, isLine, type LedgerEntry, PROFILE_ACCOUNTS } from '../ledger/entries.ts';
import { finalInstant } from '../ledger/finality.ts';
import { LIMITS } from '../limits.ts';
import { camtFault, camtTexts } from './camt053.ts';
import { type CauseOf, type CauseSources, findCauses, presentCause } from './causes.ts';
import { csvTexts } from './csv.ts';
import { ENTRY, STATEMENT } from './examples.ts';
import { directionOf, jsonTexts, sizeOf } from './json.ts';
import { EntriesQuery, EntryList, StatementQuery, StatementShape } from './schema.ts';
import { movementsOf, type Position, type Statement, type StatementSource } from './statement.ts';

export type BookDependencies = CauseSources & {
  readonly database: Database;
  readonly assets: Assets;
  readonly profiles: {
    find(own: CustomerReads, id: string): Promise<{ readonly id: string } | undefined>;
  };
};

/** The time in a query; undefined if it is absent. */
export function readTime(text: string | undefined, name: string): Instant | undefined {
  if (text === undefined) return undefined;
  const instant = parseComparable(text);
  if (instant === undefined) throw invalidField(`/query/${name}`, NOT_A_TIME);
  return instant;
}

export function requireFinal(instant: Instant, final: Instant, name: string): void {
  if (instant <= final) return;
  const seconds = LIMITS.clockBehindMaxMs / 1_000;
  throw invalidField(
    `/query/${name}`,
    `must be at least ${seconds} seconds in the past: the books are final up to ${formatInstant(final)}`,
  );
}

export const causesFor = (entries: readonly LedgerEntry[], sources: CauseSources): Promise<CauseOf> =>
  findCauses(
    sources,
    entries.map(({ causeId }) => causeId),
  );

/** The asset and the profile of a request, which must exist. */
async function requireBook(
  { profiles, assets }: BookDependencies,
  own: CustomerReads,
  profileId: string,
  code: string,
) {
  if ((await profiles.find(own, profileId)) === undefined) throw notFound('profile', profileId);
  const asset = assets.find(code);
  if (asset === undefined) throw invalidField('/query/asset', `"${code}" is not a known asset`);
  return asset;
}

function entriesRoute(dependencies: BookDependencies): Route {
  const { database, assets } = dependencies;
  return route({
    method: 'GET',
    path: '/v2/profiles/{id}/entries',
    operationId: 'listProfileEntries',
    tag: 'Profiles',
    summary: 'List the entries of a profile and asset',
    description:
      'Every change of `available` and `held`, with the balance after it and its cause. `created_at` is the instant `at` of an entry.',
    scope: 'funding:read_profile',
    params: IdParams,
    query: EntriesQuery,
    response: EntryList,
    problems: ['not-found'],
    answer: { items: [ENTRY] },
    async handle({ caller, params, query }) {
      const page = readPage(query, 'entries', isLine);
      const own = database.of(caller.customerId);
      const { code } = await requireBook(dependencies, own, params.id, query.asset);
      const accounts = query.account === undefined ? PROFILE_ACCOUNTS : [query.account];
      const found = await entriesOf(own, params.id, code, accounts, page);
      const causeOf = await causesFor(found.rows.slice(0, page.limit), dependencies);
      const present = ({ createdAtNs, account, delta, balanceAfter, causeId }: LedgerEntry) => ({
        at: formatInstant(createdAtNs),
        asset: code,
        account,
        direction: directionOf(delta),
        amount: assets.format(code, sizeOf(delta)),
        balance_after: assets.format(code, balanceAfter!),
        cause: presentCause(causeOf(causeId, params.id)),
      });
      return { body: await pageOf(found, page, present) };
    },
  });
}

const MEDIA_TYPES = ['application/json', 'text/csv', 'application/xml'] as const;

const STATEMENT_DESCRIPTION = `Opening balance, movements and closing balance of a period, as JSON, CSV (\`Accept: text/csv\`) or ISO 20022 camt.053.001.08 (\`Accept: application/xml\`; only assets with a code of three letters and up to 5 decimals). A movement is a change of what the profile owns; value that is put on hold for a withdrawal is still owned. The period must be final: \`to\` is at least ${LIMITS.clockBehindMaxMs / 1_000} seconds ago. The closing balance of a period is the opening balance of the one that starts at its \`to\`. Statements are streamed and can have any length. One that cannot be completed is cut off: its last line, \`]}\` or closing tag is missing.`;

function statementRoute(dependencies: BookDependencies): Route {
  const { database, assets } = dependencies;
  const places = createPlaces('statements', LIMITS.statementsMax, 1);

  /** Just before that instant. */
  async function positionBefore(
    own: CustomerReads,
    profileId: string,
    asset: string,
    at: Instant,
  ): Promise<Position> {
    const balances = await balancesAt(own, profileId, at - 1n);
    return balances.find((one) => one.asset === asset) ?? { available: 0n, held: 0n };
  }

  return route({
    method: 'GET',
    path: '/v2/profiles/{id}/statements',
    operationId: 'getStatement',
    tag: 'Profiles',
    summary: 'Get a statement of a period',
    description: STATEMENT_DESCRIPTION,
    scope: 'funding:read_profile',
    params: IdParams,
    query: StatementQuery,
    response: StatementShape,
    streams: [...MEDIA_TYPES],
    problems: ['not-found'],
    answer: STATEMENT,
    async handle({ caller, params, query, header, signal }) {
      const profileId = params.id;
      const own = database.of(caller.customerId);
      const asset = await requireBook(dependencies, own, profileId, query.asset);
      const mediaType = acceptable(header('accept'), MEDIA_TYPES);
      const fault =
        mediaType === undefined
          ? `must accept one of ${MEDIA_TYPES.join(', ')}`
          : mediaType === 'application/xml'
            ? camtFault(asset)
            : undefined;
      if (fault !== undefined) throw invalidField('/header/Accept', fault);
      const from = readTime(query.from, 'from')!;
      const final = await finalInstant(database);
      // Everything at the final instant is final, and `to` is exclusive.
      const to = readTime(query.to, 'to') ?? final + 1n;
      requireFinal(to - 1n, final, 'to');
      if (from >= to) throw invalidField('/query/from', `must be before ${formatInstant(to)}`);
      places.occupy(caller.customerId, signal());
      const statement: Statement = {
        profileId,
        asset: asset.code,
        from,
        to,
        opening: await positionBefore(own, profileId, asset.code, from),
        closing: await positionBefore(own, profileId, asset.code, to),
      };
      const source: StatementSource = {
        entries: async (page) => (await entriesOf(own, profileId, asset.code, PROFILE_ACCOUNTS, page)).rows,
        causes: (ids) => findCauses(dependencies, ids),
      };
      const movements = movementsOf(statement, source);
      const texts =
        mediaType === 'text/csv'
          ? csvTexts(statement, movements, assets)
          : mediaType === 'application/xml'
            ? camtTexts(statement, movements, asset, final)
            : jsonTexts(statement, movements, assets);
      return { body: texts as never, mediaType: `${mediaType}; charset=utf-8` };
    },
  });
}

export function bookRoutes(dependencies: BookDependencies): Route[] {
  return [entriesRoute(dependencies), statementRoute(dependencies)];
}
