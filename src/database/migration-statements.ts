/**
 * What the statements of a migration lock, and for how long in principle, read from their text. Enough for the statements that
 * migrations of Ferry have; of anything else, it says that it does not know.
 */

/** The strongest first. What each keeps others from doing is in the manual of PostgreSQL, "Explicit Locking". */
export const LOCKS = [
  'ACCESS EXCLUSIVE',
  'SHARE ROW EXCLUSIVE',
  'SHARE',
  'SHARE UPDATE EXCLUSIVE',
  'ROW EXCLUSIVE',
] as const;
export type Lock = (typeof LOCKS)[number];

/** `catalog` changes no row, `scan` reads all, `index` reads and sorts them, `rewrite` copies the table, `rows` changes rows. */
export type Work = 'catalog' | 'scan' | 'index' | 'rewrite' | 'rows' | 'unknown';

/** Undefined as a table: the statement runs code, whose tables are not known. */
export type Step = { readonly table: string | undefined; readonly lock: Lock; readonly work: Work };

const TOKEN = /--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|;|[^-/$';]+|[-/$]/g;

/** Without comments and the contents of texts, in lower case, each statement on one line. */
export function statementsIn(sql: string): string[] {
  const statements = [''];
  for (const [token] of sql.matchAll(TOKEN)) {
    if (token === ';') statements.push('');
    else if (token.startsWith('--') || token.startsWith('/*')) statements[statements.length - 1] += ' ';
    else if (/^('|\$\w*\$)/.test(token)) statements[statements.length - 1] += "''";
    else statements[statements.length - 1] += token;
  }
  return statements
    .map((one) => one.replaceAll(/\s+/g, ' ').trim().toLowerCase())
    .filter((one) => one !== '');
}

/** The parts of a list, without splitting what is in parentheses. */
function partsOf(list: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of list) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}

const referenced = (text: string): string[] =>
  [...text.matchAll(/\breferences (\w+)/g)].map(([, table]) => table!);

const VOLATILE = /\b(gen_random_uuid|clock_timestamp|random|uuidv7|nextval)\b|\bgenerated always as\b/;

function addSteps(table: string, action: string): Step[] {
  const lock = 'ACCESS EXCLUSIVE';
  const step = (work: Work): Step => ({ table, lock, work });
  if (/\bforeign key\b|\breferences\b/.test(action)) {
    const work = action.includes('not valid') ? 'catalog' : 'scan';
    const others = referenced(action).map(
      (other): Step => ({ table: other, lock: 'SHARE ROW EXCLUSIVE', work }),
    );
    const own = /^add (column\b|(?!constraint\b))/.test(action) ? lock : 'SHARE ROW EXCLUSIVE';
    return [{ table, lock: own, work }, ...others];
  }
  if (/^add constraint \w+ (primary key|unique|exclude)\b/.test(action)) return [step('index')];
  if (/^add (constraint \w+ )?check\b/.test(action))
    return [step(action.includes('not valid') ? 'catalog' : 'scan')];
  if (VOLATILE.test(action)) return [step('rewrite')];
  return [step(/\bprimary key\b|\bunique\b/.test(action) ? 'index' : 'catalog')];
}

function alterSteps(table: string, action: string): Step[] {
  const exclusive = (work: Work): Step[] => [{ table, lock: 'ACCESS EXCLUSIVE', work }];
  if (action.startsWith('add ')) return addSteps(table, action);
  if (action.startsWith('validate constraint'))
    return [{ table, lock: 'SHARE UPDATE EXCLUSIVE', work: 'scan' }];
  if (/\bset not null$/.test(action)) return exclusive('scan');
  if (/^alter column \w+ (set data )?type\b/.test(action)) return exclusive('rewrite');
  if (/^alter column \w+ (set|drop|add)\b|^(drop|rename|owner|enable|disable|set)\b/.test(action))
    return exclusive('catalog');
  return exclusive('unknown');
}

type Rule = readonly [RegExp, (match: RegExpExecArray, statement: string) => Step[]];

const catalog = (table: string, lock: Lock): Step => ({ table, lock, work: 'catalog' });

const RULES: readonly Rule[] = [
  [
    /^create table (?:if not exists )?\w+/,
    (_, statement) => referenced(statement).map((table) => catalog(table, 'SHARE ROW EXCLUSIVE')),
  ],
  [
    /^create (?:unique )?index (?:if not exists )?\w+ on (?:only )?(\w+)/,
    ([, table]) => [{ table: table!, lock: 'SHARE', work: 'index' }],
  ],
  [
    /^create (?:or replace )?(?:constraint )?trigger .*? on (\w+)/,
    ([, table]) => [catalog(table!, 'SHARE ROW EXCLUSIVE')],
  ],
  [
    /^alter table (?:if exists )?(?:only )?(\w+) (.+)$/,
    ([, table, list]) => partsOf(list!).flatMap((one) => alterSteps(table!, one)),
  ],
  // An index is locked with its table.
  [
    /^drop (?:index|table) (?:if exists )?([\w, ]+)/,
    ([, list]) => partsOf(list!).map((one) => catalog(one.split(' ')[0]!, 'ACCESS EXCLUSIVE')),
  ],
  [/^drop trigger .*? on (\w+)/, ([, table]) => [catalog(table!, 'ACCESS EXCLUSIVE')]],
  [
    /^(?:update|insert into|delete from) (?:only )?(\w+)/,
    ([, table], statement) => [
      { table: table!, lock: 'ROW EXCLUSIVE', work: 'rows' },
      // The rows that it copies are those of other tables.
      ...[...statement.matchAll(/\b(?:from|join) (\w+)/g)].map(
        ([, other]): Step => ({ table: other!, lock: 'ROW EXCLUSIVE', work: 'rows' }),
      ),
    ],
  ],
  [/^truncate (?:table )?(\w+)/, ([, table]) => [catalog(table!, 'ACCESS EXCLUSIVE')]],
  // They have no table that a running node waits for.
  [
    /^(create|drop) (or replace )?(view|function|type|sequence|index|extension|domain)\b|^(comment|grant|revoke|set|create schema)\b|^alter (view|function|type|sequence|index)\b/,
    () => [],
  ],
];

export function stepsOf(statement: string): Step[] {
  for (const [pattern, steps] of RULES) {
    const match = pattern.exec(statement);
    if (match !== null) return steps(match, statement);
  }
  return [{ table: undefined, lock: 'ACCESS EXCLUSIVE', work: 'unknown' }];
}
