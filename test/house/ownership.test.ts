import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderOf, isStore, ROOT, sources } from './sources.ts';

describe('one place for each kind of thing', () => {
  it('SQL stands only in stores, the ledger and the database folder', () => {
    const withSql = sources.filter((file) => /\b(query|script)(<[^(]*>)?\(\s*[`']/.test(file.text));
    const allowed = (path: string): boolean =>
      isStore(path) || ['ledger', 'database'].includes(folderOf(path)) || path === 'http/health.ts';
    expect(withSql.map((file) => file.path).filter((path) => !allowed(path))).toEqual([]);
  });

  it('only the ledger touches the tables of the ledger', () => {
    const tables =
      /\b(from|into|update|join)\s+(balances|entries|system_balances|system_deltas|idempotency_keys)\b/i;
    const touching = sources.filter((file) => tables.test(file.text)).map((file) => file.path);
    expect(touching.filter((path) => folderOf(path) !== 'ledger')).toEqual([]);
  });

  it('only the command line reads the environment, and passes it on', () => {
    const readers = sources.filter((file) => file.text.includes('process.env')).map((file) => file.path);
    expect(readers).toEqual(['cli/cli.ts']);
  });

  it('money is never a JavaScript number', () => {
    const suspicious = /parseFloat\(|toFixed\(|Number\([\w.]*([Aa]mount|[Uu]nits|[Ff]ee|[Bb]alance|[Tt]otal)/;
    expect(sources.filter((file) => suspicious.test(file.text)).map((file) => file.path)).toEqual([]);
  });

  it('the only classes are errors', () => {
    const classes = sources.flatMap((file) =>
      [...file.text.matchAll(/^(?:export )?class (\w+)( extends \w+)?/gm)]
        .filter((match) => match[2] === undefined)
        .map((match) => `${file.path}: ${match[1]}`),
    );
    expect(classes).toEqual([]);
  });
});

describe('the register of networks', () => {
  it('is the only place with a table by network or by kind of fiat account', () => {
    const table = /Record<(CryptoNetwork|FiatKind|FiatNetwork|RailName)\b/;
    const keepers = sources.filter((file) => table.test(file.text)).map((file) => file.path);
    expect(keepers.filter((path) => folderOf(path) !== 'networks')).toEqual([]);
  });
});

describe('what is answered to a customer', () => {
  /** For operators, across all customers. */
  const OF_OPERATORS = [
    'batchesOfAnyTransfers',
    'findEntry',
    'findForReview',
    'findFreeze',
    'findPolicy',
    'listApprovals',
    'listClients',
    'listContradictions',
    'listEntries',
    'listForReview',
    'listFreezes',
    'listNotes',
    'listOpen',
    'listPolicies',
    'listSuspense',
    'listViews',
    'readLog',
  ];

  it('is read as that customer, so that a row of another one is refused', () => {
    const routes = sources.filter(({ path }) => /(routes|access|stream)\.ts$/.test(path));
    const names = routes.flatMap(({ text }) =>
      [...text.matchAll(/\b((?:find|list|read|balances|batches)\w*)\(\s*(?:\w+\.)?database,/g)].map(
        (match) => match[1]!,
      ),
    );
    // The stream gets its database from the routes of events, which give it that of the customer.
    expect([...new Set(names)].filter((name) => name !== 'readFeed').sort()).toEqual(OF_OPERATORS);
    const own = routes.flatMap(({ text }) => [...text.matchAll(/database\.of\((caller\.)?customerId\)/g)]);
    expect(own.length).toBeGreaterThan(30);
  });

  it('says whose it is, apart from the time and places in the feed', () => {
    const nobodys = sources.filter(({ path, text }) => isStore(path) && text.includes('isNobodys'));
    expect(nobodys.map(({ path }) => path).sort()).toEqual(['events/feed-store.ts', 'profiles/store.ts']);
    // From the row, and not from what the caller has asked for.
    expect(sources.filter(({ text }) => /\$\d+(::uuid)? as "customerId"/.test(text))).toEqual([]);
  });
});

describe('a table', () => {
  const holdsSql = (path: string): boolean =>
    isStore(path) || ['ledger', 'database'].includes(folderOf(path));
  const statements = sources
    .filter(({ path }) => holdsSql(path))
    .map(({ path, text }) => ({ path, sql: text.replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, '') }));
  const migrations = readdirSync(join(ROOT, 'migrations'))
    .sort()
    .map((name) => readFileSync(join(ROOT, 'migrations', name), 'utf8'))
    .join('\n');
  const named = (pattern: RegExp): string[] =>
    [...migrations.matchAll(pattern)].flatMap((match) => match[1]!.split(/,\s*/));
  const dropped = named(/^drop table ([\w, ]+);/gm);
  // A table that was dropped and created again still exists.
  const tables = [...new Set(named(/^create table (\w+)/gm))].filter(
    (table) =>
      !dropped.includes(table) ||
      migrations.lastIndexOf(`create table ${table} `) > migrations.lastIndexOf(`drop table ${table}`),
  );

  const touches = (sql: string, words: string, table: string): boolean =>
    new RegExp(`\\b(${words})\\s+${table}\\b`, 'i').test(sql) ||
    new RegExp(`(appendTo<\\w+>\\(|table: )'${table}'`).test(sql);
  const WRITING = 'insert into|update|delete from';
  const ANY = `${WRITING}|from|join`;
  const ownersOf = (table: string): string[] => [
    ...new Set(
      statements.filter(({ sql }) => touches(sql, WRITING, table)).map(({ path }) => folderOf(path)),
    ),
  ];

  /** Statements that may read another folder's table, and why. */
  const EXCEPTIONS: Readonly<Record<string, string>> = {
    // The search of operators also reads the tables of its list `WITH_ID` by their primary keys, in one statement.
    'search/store.ts touches customers of auth':
      'operators find customers by name, and things by ref_id of any customer',
    'ledger/audit-checks.ts touches transfers of transfers':
      'on a cluster, the audit collects the transfers that the views of records need',
    'search/store.ts touches transfers of transfers': 'operators find amounts among the latest transfers',
    'webhooks/lease-store.ts touches event_groups of events':
      'one statement claims the endpoints that have newer events; otherwise each endpoint would need its own query',
  };

  it('has exactly one owner', () => {
    expect(tables.length).toBeGreaterThan(25);
    const owners = Object.fromEntries(tables.map((table) => [table, ownersOf(table)]));
    expect(Object.entries(owners).filter(([, found]) => found.length !== 1)).toEqual([]);
  });

  it('is read and written only by its owner, apart from these exceptions', () => {
    const foreign = tables.flatMap((table) => {
      const [owner] = ownersOf(table);
      return statements
        .filter(({ path, sql }) => folderOf(path) !== owner && touches(sql, ANY, table))
        .map(({ path }) => `${path} touches ${table} of ${owner}`);
    });
    expect(foreign).toEqual(Object.keys(EXCEPTIONS));
  });
});

describe('time', () => {
  /** Files that may read the wall clock of the node, how often, and why. */
  const WALL_CLOCK: Readonly<Record<string, { times: number; why: string }>> = {
    'kernel/id.ts': {
      times: 1,
      why: 'ids are unique and increasing within a process whatever the wall clock shows',
    },
    'cli/sandbox-bank.ts': { times: 1, why: 'the sandbox bank has a clock of its own' },
    'http-rail/check.ts': { times: 1, why: 'signs requests of tools that have no database' },
    'cli/signer.ts': {
      times: 1,
      why: 'limits of the signer must not depend on a clock that the service can change',
    },
    'people/openid.ts': {
      times: 1,
      why: 'the OAuth library reads the wall clock, and is told how far the clock of the database is from it',
    },
    'database/embedded/process.ts': { times: 1, why: 'compared with the time of a file' },
    'database/embedded/files.ts': { times: 1, why: 'compared with the time of a file' },
    'chains/utxo/check.ts': { times: 1, why: 'compared with the clock of a blockchain node, for operators' },
  };

  it('is measured with a monotonic clock or the clock of the database, not with the wall clock of a node', () => {
    const readings = sources.flatMap(({ path, text }) => {
      const found = [...text.matchAll(/\bDate\.now\b|\bnew Date(?:\(\)|(?!\())|(?<!new )\bDate\(/g)];
      return found.length === 0 ? [] : [[path, found.length] as const];
    });
    const allowed = Object.entries(WALL_CLOCK).map(([path, { times }]) => [path, times] as const);
    expect(Object.fromEntries(readings)).toEqual(Object.fromEntries(allowed));
  });
});
