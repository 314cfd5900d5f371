import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PROBLEMS, type ProblemSlug } from '../../src/kernel/problem.ts';
import { startTestService } from '../support/service.ts';
import { ROOT } from './installed.ts';

const service = await startTestService();
afterAll(() => service.stop());
const { document } = service.description;

const NOTE = '<!-- Generated from the code by npm run docs:catalogues; a test fails if it differs. -->';
const RETRIED: readonly ProblemSlug[] = ['request-timeout', 'rate-limited', 'internal', 'unavailable'];

type Found = { readonly operation: string; readonly value: { detail: string; meta: unknown } };

/** The examples of that problem in the document, by operation. */
function examplesOf(slug: string): Found[] {
  const operations = Object.values<any>(document.paths).flatMap((path) => Object.values<any>(path));
  return operations.flatMap(({ operationId, responses }) =>
    Object.values<any>(responses).flatMap((response) => {
      const { content } = response.$ref === undefined ? response : at(response.$ref);
      const value = content?.['application/problem+json']?.examples?.[slug]?.value;
      return value === undefined ? [] : [{ operation: operationId, value }];
    }),
  );
}

const at = (reference: string): any =>
  reference
    .slice(2)
    .split('/')
    .reduce((value, name) => value[name.replaceAll('~1', '/')], document);

function section(slug: ProblemSlug): string {
  const { status, title, help } = PROBLEMS[slug];
  const [example] = examplesOf(slug);
  const shown =
    example === undefined
      ? []
      : [
          '',
          '```json',
          JSON.stringify({ detail: example.value.detail, meta: example.value.meta }, null, 2),
          '```',
        ];
  const retry = RETRIED.includes(slug) ? 'yes, with the same `ref_id`' : 'not before its cause is removed';
  return [`## ${slug}`, '', `${status} ${title}. Retry: ${retry}.`, '', help, ...shown, ''].join('\n');
}

function errorsPage(): string {
  const slugs = Object.keys(PROBLEMS) as ProblemSlug[];
  return [
    '# Errors by slug',
    '',
    NOTE,
    '',
    'Every error is `application/problem+json` (RFC 9457). The slug is the last part of its `type`; `title` and `status` are always the',
    'same for a slug. `detail` is a sentence with the values, `meta` has the same values as fields. Decide by the slug, never by the text.',
    'The token endpoint answers with the [errors of OAuth2](interface.md#4-authentication) instead.',
    '',
    ...slugs.map(section),
  ].join('\n');
}

const OF_FAMILY: Record<string, string> = {
  transfer: 'A transfer was created or changed its status. `data` is the Transfer.',
  settlement:
    'A settlement transaction changed its status. Each party gets an event. `data` is the transaction.',
  conversion: 'USD were converted into the stablecoin, or back. `data` is the conversion.',
  fiat_account:
    'A fiat account was registered, reviewed, changed or deleted. `data` is the fiat account, with `reason` after a review.',
  account_member: 'A member was added to an account, or removed. `data` is the member.',
  journal_entry:
    'The operator credited or debited one of your profiles. `data` is the journal entry as you see it.',
  webhook_endpoint: 'The service disabled one of your endpoints, or you sent a test. `data` is the endpoint.',
};

function eventsPage(): string {
  const types = Object.keys(document.webhooks);
  const families = Map.groupBy(types, (type) => type.split('.')[0]!);
  const sections = [...families].flatMap(([family, of]) => [
    `## ${family}`,
    '',
    OF_FAMILY[family] ?? '',
    '',
    ...of.map((type) => `- \`${type}\``),
    '',
  ]);
  return [
    '# Event types',
    '',
    NOTE,
    '',
    'What you can receive in the [feed, the stream and webhooks](events.md). In filters `*` stands for any text: `transfer.*.failed`.',
    '',
    ...sections,
  ].join('\n');
}

it('docs/errors.md has every problem; if not: npm run docs:catalogues', async () => {
  await expect(errorsPage()).toMatchFileSnapshot('../../docs/errors.md');
});

it('docs/event-types.md has every event type; if not: npm run docs:catalogues', async () => {
  await expect(eventsPage()).toMatchFileSnapshot('../../docs/event-types.md');
});

it('every family of events is explained', () => {
  const families = new Set(Object.keys(document.webhooks).map((type) => type.split('.')[0]!));
  expect(Object.keys(OF_FAMILY).sort()).toEqual([...families].sort());
});

describe('docs/statuses.md', () => {
  const guide = readFileSync(join(ROOT, 'docs/statuses.md'), 'utf8');

  it('explains every secondary_status that the code writes, and no other', () => {
    const written = globSync('src/**/*.ts', { cwd: ROOT })
      .filter((path) => !path.endsWith('.test.ts'))
      .flatMap((path) => [
        ...readFileSync(join(ROOT, path), 'utf8').matchAll(
          /\bname: [^,{}\n]*?'([A-Z_]{4,})'(?: : '([A-Z_]{4,})')?,\s*detail/g,
        ),
      ])
      .flatMap(([, one, other]) => (other === undefined ? [one] : [one, other]));
    const explained = [...guide.matchAll(/^\| `([A-Z_]+)` /gm)].map((match) => match[1]);
    expect(explained.length).toBeGreaterThan(20);
    expect(new Set(explained)).toEqual(new Set(written));
    expect(new Set(explained).size).toBe(explained.length);
  });

  it('is where every guide that lists them leads', () => {
    for (const name of ['withdrawals.md', 'settlement.md', 'interface.md'])
      expect(readFileSync(join(ROOT, 'docs', name), 'utf8')).toContain('](statuses.md');
  });
});
