import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TROUBLES } from '../../src/ledger/write-path.ts';

it('the operations guide explains every label of ferry_ledger_troubles_total, and no other', () => {
  const guide = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const [, table] = /^\| `what` .*\n((?:\|.*\n)+)/m.exec(guide)!;
  const explained = [...table!.matchAll(/^\| `([a-z-]+)` /gm)].map((match) => match[1]);
  expect(new Set(explained)).toEqual(new Set<string>(TROUBLES));
});
