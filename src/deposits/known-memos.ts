import type { Queryable } from '../database/database.ts';
import type { FiatKind } from '../networks/fiat.ts';
import { memosAmong } from './store.ts';

/** Those of the candidates that are memos of profiles, for rails that search them in what payers wrote. */
export function knownMemos(
  database: Queryable,
  kind: FiatKind,
  candidates: readonly string[],
): Promise<ReadonlySet<string>> {
  return memosAmong(database, kind, candidates);
}
