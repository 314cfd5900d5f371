import { describe, expect, it } from 'vitest';
import { GRANTS, type Grant } from '../../src/database/grants.ts';
import { sources } from './sources.ts';

/** Run by the role that owns the tables. */
const OF_THE_OWNER = ['ledger/repair.ts', 'database/migrate.ts', 'database/serving-role.ts'];

const code = sources
  .filter(({ path }) => !OF_THE_OWNER.includes(path))
  .map(({ text }) => text.replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, ''));
const literals = code.flatMap((text) => text.match(/`[^`]*`|'[^'\n]*'/g) ?? []);

const some = (pattern: string): boolean => literals.some((one) => new RegExp(pattern, 'i').test(one));

/** A row lock needs the right to update. `for update of x` locks only the table with that alias. */
function locks(literal: string, table: string): boolean {
  if (!/\bfor (update|share)\b/i.test(literal)) return false;
  const [, alias] = /\bfor (?:update|share) of (\w+)/i.exec(literal) ?? [];
  const named = alias === undefined ? `\\bfrom ${table}\\b` : `\\b(from|join) ${table} ${alias}\\b`;
  return new RegExp(named, 'i').test(literal);
}

/** What the statements of the stores do with a table. */
function usedOn(table: string): string[] {
  const inserts =
    some(`\\binsert into ${table}\\b`) ||
    code.some((text) => new RegExp(`appendTo(<\\w+>)?\\(\\s*'${table}'`).test(text));
  const updates =
    some(`\\bupdate ${table}\\b`) ||
    literals.some((one) => new RegExp(`\\binsert into ${table}\\b[\\s\\S]*\\bdo update\\b`, 'i').test(one)) ||
    literals.some((one) => locks(one, table)) ||
    code.some((text) => new RegExp(`olderJson\\(database, \\{\\s*table: '${table}'`).test(text));
  const deletes = some(`\\bdelete from ${table}\\b`);
  return [...(inserts ? ['insert'] : []), ...(updates ? ['update'] : []), ...(deletes ? ['delete'] : [])];
}

const granted = ({ insert, update, delete: deletes }: Grant): string[] => [
  ...(insert ? ['insert'] : []),
  ...(update ? ['update'] : []),
  ...(deletes ? ['delete'] : []),
];

describe('the rights of the role that serves', () => {
  it.each(Object.entries(GRANTS))('on %s are what the statements of the stores need', (table, grant) => {
    expect(granted(grant)).toEqual(usedOn(table));
  });

  it('withhold every change of what the ledger and the records of views, deposits and events are proved from', () => {
    const insertOnly = Object.keys(GRANTS).filter((table) => granted(GRANTS[table]!).join() === 'insert');
    expect(insertOnly.sort()).toEqual([
      'assets',
      'audit_checkpoints',
      'bank_findings',
      'bank_received',
      'chain_addresses',
      'chain_moves',
      'conversions',
      'deposit_addresses',
      'entries',
      'event_marks',
      'event_resources',
      'fiat_account_views',
      'fiat_deposit_instructions',
      'installation',
      'journal_entries',
      'journal_postings',
      'packed_rows',
      'policy_versions',
      'rail_contradictions',
      'reconciliation_balances',
      'reconciliation_references',
      'reconciliation_statements',
      'withdrawal_notes',
    ]);
  });

  it('never include TRUNCATE: no statement needs it', () => {
    expect(literals.filter((one) => /\btruncate\b/i.test(one))).toEqual([]);
  });
});
