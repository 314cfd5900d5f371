import { createHash } from 'node:crypto';
import type { Database, Transaction } from '../database/database.ts';
import { recordChange } from '../events/append.ts';
import type { Actor } from '../kernel/actor.ts';
import { newId } from '../kernel/id.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import { invalidField, notFound, Problem } from '../kernel/problem.ts';
import { systemMovements } from '../ledger/entries.ts';
import { finalInstant } from '../ledger/finality.ts';
import { LIMITS } from '../limits.ts';
import type { Line, NewItem } from './item.ts';
import { matchFault, normalizedReferences, outsideUnits } from './rules.ts';
import {
  findStatement,
  insertItems,
  insertMatch,
  insertStatement,
  lockAccount,
  lockItems,
  type Match,
  matchNew,
  type ReconciledAccount,
  reconciledAccounts,
  reconcileFrom,
  removeMatch,
  type StoredStatement,
  setCopied,
} from './store.ts';

/** Where the references of the ledger's side come from. */
export type ReferenceSources = {
  readonly transfers: {
    causes(
      ids: readonly string[],
    ): Promise<
      readonly { readonly causeId: string; readonly id: string; readonly cryptoTxHash: string | null }[]
    >;
  };
  readonly deposits: {
    references(
      ids: readonly string[],
    ): Promise<readonly { readonly id: string; readonly reference: string }[]>;
  };
  readonly journal: {
    causes(ids: readonly string[]): Promise<readonly { readonly id: string; readonly reference: string }[]>;
  };
};

/** References of each cause: those outside first, then its own id, which payments carry. */
async function referencesOf(
  sources: ReferenceSources,
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>(ids.map((id) => [id, []]));
  const add = (id: string, reference: string | null): void =>
    void (reference !== null && found.get(id)?.push(reference));
  for (const { id, reference } of await sources.deposits.references(ids)) add(id, reference);
  for (const { id, reference } of await sources.journal.causes(ids)) add(id, reference);
  for (const { causeId, id, cryptoTxHash } of await sources.transfers.causes(ids)) {
    add(causeId, cryptoTxHash);
    add(causeId, id);
  }
  for (const id of ids) add(id, id);
  return found;
}

const referenceShown = (references: readonly string[]): string =>
  (references[0] ?? '').slice(0, LIMITS.depositTextMax);

/**
 * Copies the next entries of the ledger, and matches them. Returns how far it has come. The entries are final, so they are read
 * before the transaction, which then occupies the only connection that is needed; if another node was faster, it does nothing.
 */
async function copyNext(
  database: Database,
  { account, asset, copiedNs }: ReconciledAccount,
  final: Instant,
  sources: ReferenceSources,
): Promise<Instant> {
  const range = { after: copiedNs, to: final, rowsMax: LIMITS.reconciliationEntriesMax };
  const { movements, until } = await systemMovements(database, { account, asset }, range);
  const references = await referencesOf(sources, [...new Set(movements.map(({ causeId }) => causeId))]);
  const items = movements.map(({ causeId, atNs, units }): NewItem => {
    const own = references.get(causeId)!;
    return {
      id: newId(),
      side: 'LEDGER',
      account,
      asset,
      units: outsideUnits(account, units),
      refs: normalizedReferences(own),
      reference: referenceShown(own),
      createdAtNs: atNs,
      causeId,
      statementId: null,
      matchId: null,
    };
  });
  return database.transaction(async (tx) => {
    const locked = await lockAccount(tx, account, asset);
    if (locked === undefined) return final;
    if (locked.copiedNs !== copiedNs) return locked.copiedNs;
    await insertItems(tx, items);
    await setCopied(tx, account, asset, until);
    await matchNew(tx, account, asset, items);
    return until;
  });
}

/** Brings the ledger's side of these accounts up to what is final. */
export async function copyLedger(
  database: Database,
  sources: ReferenceSources,
  only?: { readonly account: string; readonly asset: string },
): Promise<void> {
  const final = await finalInstant(database);
  const wanted = (await reconciledAccounts(database)).filter(
    ({ account, asset }) => only === undefined || (only.account === account && only.asset === asset),
  );
  for (const one of wanted) {
    let { copiedNs } = one;
    while (copiedNs < final) copiedNs = await copyNext(database, { ...one, copiedNs }, final, sources);
  }
}

export type Import = {
  readonly account: string;
  readonly asset: string;
  readonly statementId: string;
  readonly format: StoredStatement['format'];
  readonly lines: readonly Line[];
  readonly by: Actor;
};

function digestOf({ asset, format, lines }: Import): string {
  const text = lines.map(({ atNs, units, references }) =>
    JSON.stringify([String(atNs), String(units), references]),
  );
  return createHash('sha256')
    .update(`${format} ${asset}\n${text.join('\n')}`)
    .digest('hex');
}

/** All lines, or none. A statement that was imported before is the same, or a conflict. */
export async function importStatement(
  database: Database,
  order: Import,
): Promise<{ readonly statement: StoredStatement; readonly replayed: boolean }> {
  const { account, asset, statementId, format, lines, by } = order;
  const digest = digestOf(order);
  const created = await database.transaction(async (tx) => {
    const [first] = lines.map(({ atNs }) => atNs).sort((a, b) => (a < b ? -1 : 1));
    await reconcileFrom(tx, account, asset, first!);
    await lockAccount(tx, account, asset);
    const facts = {
      id: newId(),
      account,
      statementId,
      asset,
      format,
      digest,
      lineCount: lines.length,
      actor: by.id,
    };
    const statement = await insertStatement(tx, facts);
    if (statement === undefined) return undefined;
    const items = lines.map(
      ({ atNs, units, references }): NewItem => ({
        id: newId(),
        side: 'STATEMENT',
        account,
        asset,
        units,
        refs: normalizedReferences(references),
        reference: referenceShown(references),
        createdAtNs: atNs,
        causeId: null,
        statementId: statement.id,
        matchId: null,
      }),
    );
    await insertItems(tx, items);
    await matchNew(tx, account, asset, items);
    await recordChange(tx, by, {
      action: 'reconciliation_statement.imported',
      customerId: null,
      resourceId: statement.id,
      after: presentStatement(statement),
    });
    return statement;
  });
  if (created !== undefined) return { statement: created, replayed: false };
  const existing = (await findStatement(database, account, statementId))!;
  if (existing.digest === digest) return { statement: existing, replayed: true };
  const detail = `The statement "${statementId}" of ${account} was imported before with other lines.`;
  throw new Problem('already-exists', detail, { existing: presentStatement(existing), differs: ['content'] });
}

export function presentStatement({
  id,
  account,
  statementId,
  asset,
  format,
  lineCount,
  actor,
}: StoredStatement) {
  return { id, account, statement_id: statementId, asset, format, line_count: lineCount, actor };
}

type Manual = { readonly by: Actor; readonly reason: string };

export function presentMatch(match: Match) {
  const { id, account, actor, reason, createdAtNs, removedBy, removedBecause, removedAtNs } = match;
  return {
    id,
    account,
    ...(actor !== null && { actor }),
    ...(reason !== null && { reason }),
    created_at: formatInstant(createdAtNs),
    ...(removedBy !== null && { removed_by: removedBy }),
    ...(removedBecause !== null && { removed_because: removedBecause }),
    ...(removedAtNs !== null && { removed_at: formatInstant(removedAtNs) }),
  };
}

async function recordMatch(tx: Transaction, by: Actor, what: string, match: Match): Promise<Match> {
  const action = `reconciliation_match.${what}`;
  const after = presentMatch(match);
  await recordChange(tx, by, { action, customerId: null, resourceId: match.id, after });
  return match;
}

/** Matches open items by hand. */
export function matchItems(
  database: Database,
  ids: readonly string[],
  { by, reason }: Manual,
): Promise<Match> {
  return database.transaction(async (tx) => {
    const items = await lockItems(tx, ids);
    const unknown = ids.filter((id) => !items.some((item) => item.id === id));
    if (unknown.length > 0) throw invalidField('/item_ids', `has no item ${unknown[0]}`);
    const matched = items.filter(({ matchId }) => matchId !== null);
    if (matched.length > 0)
      throw new Problem('invalid-state', `Item ${matched[0]!.id} is matched already.`, { status: 'MATCHED' });
    const fault = matchFault(items);
    if (fault !== undefined) throw invalidField('/item_ids', fault);
    const facts = { account: items[0]!.account, actor: by.id, reason };
    return recordMatch(tx, by, 'created', await insertMatch(tx, facts, ids));
  });
}

export function unmatch(database: Database, id: string, { by, reason }: Manual): Promise<Match> {
  return database.transaction(async (tx) => {
    const match = await removeMatch(tx, id, { actor: by.id, reason });
    if (match === undefined) throw notFound('match', id);
    return recordMatch(tx, by, 'removed', match);
  });
}

export function requireLines(lines: readonly Line[]): void {
  if (lines.length === 0) throw invalidField('/content', 'must have a booked line');
  if (lines.length > LIMITS.statementLinesMax)
    throw invalidField(
      '/content',
      `must have at most ${LIMITS.statementLinesMax} lines, not ${lines.length}`,
    );
}
