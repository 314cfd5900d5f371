import { describe, expect, it } from 'vitest';
import type { FiatAccount, FiatKind } from '../../src/fiat-accounts/fiat-account.ts';
import { newId } from '../../src/kernel/id.ts';
import { balancesOf } from '../../src/ledger/balances.ts';
import { assets } from './ledger.ts';
import { type Answer, expectInvalid, expectProblem, type TestCustomer, type TestService } from './service.ts';

/** Shared by the tests of all transfer operations. */

export async function balanceOf(service: TestService, profileId: string, asset: string) {
  const rows = await balancesOf(service.database, profileId);
  const row = rows.find((one) => one.asset === asset) ?? { available: 0n, held: 0n };
  return { available: assets.format(asset, row.available), held: assets.format(asset, row.held) };
}

export async function createIdentity(
  service: TestService,
  customer: TestCustomer,
  status: 'APPROVED' | 'DISABLED' = 'APPROVED',
): Promise<string> {
  const id = newId();
  await service.database.query(
    `insert into identities (id, customer_id, type, person_details, status, created_at_ns, updated_at_ns)
     values ($1, $2, 'PERSON', '{"first_name": "Ada", "last_name": "Lind"}', $3, 0, 0)`,
    [id, customer.id, status],
  );
  return id;
}

export async function createAccount(
  service: TestService,
  customer: TestCustomer,
  identityId: string,
): Promise<string> {
  const id = newId();
  await service.database.query(
    `insert into accounts (id, customer_id, identity_id, type, created_at_ns, updated_at_ns)
     values ($1, $2, $3, 'BROKERAGE', 0, 0)`,
    [id, customer.id, identityId],
  );
  return id;
}

export async function createFiatAccount(
  service: TestService,
  customer: TestCustomer,
  kind: FiatKind,
  status: FiatAccount['status'] = 'APPROVED',
  deletedAtNs: bigint | null = null,
): Promise<string> {
  const id = newId();
  await service.database.query(
    `insert into fiat_accounts (id, customer_id, status, kind, fiat_account_owner, fiat_network_instructions,
                                created_at_ns, updated_at_ns, deleted_at_ns)
     values ($1, $2, $3, $4, '{}', '{}', 0, 0, $5)`,
    [id, customer.id, status, kind, deletedAtNs],
  );
  return id;
}

export async function disableProfile(service: TestService, id: string): Promise<void> {
  await service.database.query(`update profiles set status = 'DISABLED' where id = $1`, [id]);
}

/** Invalid amounts, as JSON text. */
export const BAD_AMOUNTS: readonly string[] = [
  '12345678901234567890',
  '25',
  '"1e3"',
  '"-1"',
  '"+1"',
  '"0"',
  '"0.00"',
  '"1."',
  '"."',
  '"1,000"',
  '"0x10"',
  '"NaN"',
  '"Infinity"',
  '"１"',
  '" 1"',
  '"1 "',
  '"1\\n"',
  '""',
  'null',
  'true',
  '["1"]',
  '{}',
  '"123456789012345678901"',
];

/** The body as JSON text with one field given as text, so that numbers keep their notation. */
export function rawBody(body: object, field: string, json: string): string {
  const marked = JSON.stringify({ ...body, [field]: '@' });
  return marked.replace(`"${field}":"@"`, `"${field}":${json}`);
}

/** A 400 of either kind that names exactly these fields. */
export function expectNamed(answer: Answer, ...pointers: string[]): void {
  expect(answer.status).toBe(400);
  const slug = answer.body.type.endsWith('exceeds-precision') ? 'exceeds-precision' : 'invalid-request';
  const { errors } = expectProblem(answer, 400, slug);
  expect(errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual([...pointers].sort());
}

/** Checks that the work writes nothing. */
export async function expectNothingWritten<Result>(
  service: TestService,
  work: () => Promise<Result>,
): Promise<Result> {
  const before = await service.countRows();
  const result = await work();
  expect(await service.countRows()).toEqual(before);
  return result;
}

/** Values of a wrong type for a field that takes text. */
export const NOT_TEXT: readonly unknown[] = [null, 7, true, {}, ['a']];

const six = { a: '1', b: '2', c: '3', d: '4', e: '5', f: '6' };
const longest = '🚢'.repeat(100);

/** The largest allowed values. Characters are code points: a ship is one, although it takes two UTF-16 units. */
const GOOD_METADATA: readonly (readonly [string, Record<string, string>])[] = [
  ['no pairs', {}],
  ['6 pairs', six],
  ['a key of 100 characters', { [longest]: 'x' }],
  ['a value of 100 characters', { x: longest }],
  ['an empty value', { x: '' }],
];

/** Values that are too large or of a wrong type, with the pointer below the field. */
const BAD_METADATA: readonly (readonly [string, unknown, string])[] = [
  ['7 pairs', { ...six, g: '7' }, ''],
  ['a value of 101 characters', { x: `${longest}🚢` }, '/x'],
  ['a value that is a number', { x: 1 }, '/x'],
  ['a value that is null', { x: null }, '/x'],
  ['a value that is an object', { x: {} }, '/x'],
  ['null', null, ''],
  ['text', 'x', ''],
  ['a list', ['x'], ''],
  ['a number', 1, ''],
];

type Send = (changes: object) => Promise<Answer>;

/** `shown` says whether the answer has the field; the sender does not see the recipient's metadata. */
export function describeMetadata(field: string, send: Send, refused: Send, shown = true): void {
  describe(field, () => {
    it.each(GOOD_METADATA)('may have %s', async (_title, metadata) => {
      const answer = await send({ [field]: metadata });
      expect(answer.status).toBe(200);
      expect(answer.body[field]).toEqual(shown ? metadata : undefined);
    });

    it.each(BAD_METADATA)('must not be or have %s', async (_title, metadata, below) => {
      expectInvalid(await refused({ [field]: metadata }), `/${field}${below}`);
    });

    it('must not have a key of 101 characters', async () => {
      const answer = await refused({ [field]: { [`${longest}🚢`]: 'x' } });
      const { errors } = expectProblem(answer, 400, 'invalid-request');
      for (const { pointer } of errors) expect(pointer).toMatch(new RegExp(`^/${field}(/|$)`));
    });
  });
}

export function describeRefIdShape(send: Send, refused: Send): void {
  it.each(['x', 'x'.repeat(128), '🚢'.repeat(128), 'a b/ü "quoted" \\'])(
    'ref_id may be %s',
    async (refId) => {
      expect((await send({ ref_id: refId })).body.ref_id).toBe(refId);
    },
  );

  it('ref_id has 1 to 128 printable characters', async () => {
    for (const refId of [...NOT_TEXT, '', 'x'.repeat(129), '🚢'.repeat(129), 'a\tb', 'a\u200bb']) {
      expectInvalid(await refused({ ref_id: refId }), '/ref_id');
    }
  });
}

/** The refusals that precede the validation of the body: token, scope, method, media type, size. */
export async function expectCommonRefusals(
  service: TestService,
  path: string,
  scope: string,
  body: object,
): Promise<void> {
  const other = scope === 'transfer:read_transfer' ? 'events:read_event' : 'transfer:read_transfer';
  const weak = await service.createCustomer({ scopes: [other] });
  const strong = await service.createCustomer({ scopes: [scope] });
  await expectNothingWritten(service, async () => {
    const headers = { authorization: 'Bearer nonsense' };
    const foreign = await strong.call('POST', path, body, headers);
    expectProblem(foreign, 401, 'unauthenticated');
    expect(foreign.headers.get('www-authenticate')).toMatch(/^Bearer/);
    const bare = await strong.call('POST', path, body, { authorization: '' });
    expectProblem(bare, 401, 'unauthenticated');
    const unscoped = await weak.call('POST', path, body);
    expect(expectProblem(unscoped, 403, 'insufficient-scope')).toEqual({ required: scope, found: [other] });
    for (const method of ['PUT', 'DELETE', 'GET']) {
      const answer = await strong.call(method, path);
      expectProblem(answer, 405, 'method-not-allowed');
      expect(answer.headers.get('allow')).toContain('POST');
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const answer = await strong.call('POST', path, body, { 'content-type': type });
      expectProblem(answer, 415, 'unsupported-media-type');
    }
    const large = JSON.stringify({ ...body, memo: 'x'.repeat(256 * 1024) });
    expectProblem(await strong.call('POST', path, large), 413, 'payload-too-large');
    for (const text of ['', '{', 'null', '[]', '"x"', '{"a":1,}']) {
      const answer = await strong.call('POST', path, text);
      expectProblem(answer, 400, 'invalid-request');
    }
    const pointers = (await strong.call('POST', path, {})).body.meta.errors.length;
    expect(pointers).toBeGreaterThan(0);
  });
}

/** Fifty at once: one is executed, and all get the same record. */
export async function expectOneOfFifty(
  service: TestService,
  customer: TestCustomer,
  path: string,
  body: object,
): Promise<Answer> {
  const answers = await Promise.all(Array.from({ length: 50 }, () => customer.call('POST', path, body)));
  const [first] = answers;
  for (const answer of answers) {
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(first!.body);
  }
  const replayed = answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true');
  expect(replayed).toHaveLength(49);
  const { ref_id: refId } = body as { ref_id: string };
  const rows = await service.database.query(
    'select id from transfers where customer_id = $1 and ref_id = $2',
    [customer.id, refId],
  );
  expect(rows).toEqual([{ id: first!.body.id }]);
  return first!;
}

/** Fifty at once with one ref_id and different amounts: one is executed, the others get a conflict. */
export async function expectOneOfFiftyDifferent(
  service: TestService,
  customer: TestCustomer,
  path: string,
  body: object,
  amountAt: (index: number) => string,
): Promise<void> {
  const before = await service.countRows();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      customer.call('POST', path, { ...body, amount: amountAt(index) }),
    ),
  );
  const done = answers.filter((answer) => answer.status === 200);
  expect(done).toHaveLength(1);
  for (const answer of answers) {
    if (answer === done[0]) continue;
    const meta = expectProblem(answer, 409, 'already-exists');
    expect(meta).toEqual({ existing: done[0]!.body, differs: ['amount'] });
  }
  const after = await service.countRows();
  expect(after.idempotency_keys).toBe(before.idempotency_keys! + 1n);
}
