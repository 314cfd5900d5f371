import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

const PATH = '/v2/identity/identities';
const person = { first_name: 'Ada', last_name: 'Lindqvist' };
const institution = { name: 'Harbour Brokerage' };

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  bob = await service.createCustomer();
  await freshAlice();
});
afterAll(() => service.stop());

/** A customer without any records. */
async function freshAlice(): Promise<void> {
  alice = await service.createCustomer();
}

const create = (body: unknown): Promise<Answer> => alice.call('POST', PATH, body);

/** The answer, after checking that nothing was written. */
async function refused(request: () => Promise<Answer>): Promise<Answer> {
  const before = await service.countRows();
  const answer = await request();
  expect(await service.countRows()).toEqual(before);
  return answer;
}

describe('creating an identity', () => {
  beforeEach(freshAlice);

  it('creates a person, approved at once', async () => {
    const answer = await create({ person_details: person, metadata: { tier: 'gold' } });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: expect.any(String),
      type: 'PERSON',
      person_details: person,
      status: 'APPROVED',
      metadata: { tier: 'gold' },
      created_at: expect.stringMatching(/Z$/),
      updated_at: answer.body.created_at,
    });
    expect((await alice.call('GET', `${PATH}/${answer.body.id}`)).body).toEqual(answer.body);
  });

  it('creates an institution, with or without its type', async () => {
    for (const type of [undefined, 'INSTITUTION']) {
      const { body } = await create({ type, institution_details: institution });
      expect(body).toMatchObject({ type: 'INSTITUTION', institution_details: institution });
      expect(body).not.toHaveProperty('person_details');
    }
  });

  it('stores any name unchanged', async () => {
    const details = { first_name: 'Zoë "{}\\,', last_name: 'NULL' };
    const { body } = await create({ person_details: details, metadata: { 'a"b': '{NULL,\\}' } });
    expect((await alice.call('GET', `${PATH}/${body.id}`)).body).toMatchObject({
      person_details: details,
      metadata: { 'a"b': '{NULL,\\}' },
    });
  });

  it('replays the same record for the same request', async () => {
    const request = { person_details: person, ref_id: 'one', metadata: { a: '1', b: '2' } };
    const first = await create(request);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const again = await refused(() =>
      create({
        metadata: { b: '2', a: '1' },
        ref_id: 'one',
        type: 'PERSON',
        person_details: { last_name: person.last_name, first_name: person.first_name },
      }),
    );
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    // Keys belong to one customer and one kind of record.
    const theirs = await bob.call('POST', PATH, request);
    expect(theirs.headers.get('idempotent-replayed')).toBeNull();
    expect(theirs.body.id).not.toBe(first.body.id);
  });

  it('refuses a different request with the same ref_id, and names what differs', async () => {
    const { body: existing } = await create({ person_details: person, ref_id: 'one' });
    const cases: [object, string[]][] = [
      [{ person_details: { ...person, first_name: 'Eva' } }, ['person_details']],
      [{ person_details: person, metadata: { a: '1' } }, ['metadata']],
      [{ institution_details: institution }, ['institution_details', 'person_details', 'type']],
    ];
    for (const [request, differs] of cases) {
      const answer = await refused(() => create({ ...request, ref_id: 'one' }));
      expect(expectProblem(answer, 409, 'already-exists')).toEqual({ existing, differs });
    }
  });

  it('creates one identity for twenty equal requests at once', async () => {
    const request = { person_details: person, ref_id: 'one' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(request)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect((await alice.call('GET', PATH)).body.items).toEqual([answers[0]!.body]);
  });
});

describe('validation', () => {
  const long = 'x'.repeat(141);
  const seven = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`key ${index}`, '']));
  const cases: [string, unknown, string[]][] = [
    ['without details', {}, ['/person_details']],
    [
      'with both kinds of details',
      { person_details: person, institution_details: institution },
      ['/institution_details'],
    ],
    ['with a type that does not fit', { type: 'INSTITUTION', person_details: person }, ['/type']],
    ['with an unknown type', { type: 'ROBOT', person_details: person }, ['/type']],
    ['with null as type', { type: null, person_details: person }, ['/type']],
    ['with null as details', { person_details: null }, ['/person_details']],
    ['with half a name', { person_details: { first_name: 'Ada' } }, ['/person_details/last_name']],
    ['with an empty name', { person_details: { ...person, first_name: '' } }, ['/person_details/first_name']],
    ['with a number as name', { institution_details: { name: 7 } }, ['/institution_details/name']],
    ['with a name of 141 characters', { institution_details: { name: long } }, ['/institution_details/name']],
    [
      'with an unknown detail',
      { person_details: { ...person, middle_name: 'B' } },
      ['/person_details/middle_name'],
    ],
    ['with an empty ref_id', { person_details: person, ref_id: '' }, ['/ref_id']],
    ['with a ref_id of 129 characters', { person_details: person, ref_id: 'x'.repeat(129) }, ['/ref_id']],
    ['with a number in metadata', { person_details: person, metadata: { a: 1 } }, ['/metadata/a']],
    ['with seven pairs of metadata', { person_details: person, metadata: seven }, ['/metadata']],
    ['with a status', { person_details: person, status: 'APPROVED' }, ['/status']],
    ['with an id', { person_details: person, id: newId() }, ['/id']],
  ];
  it.each(cases)('refuses a request %s', async (_title, body, pointers) => {
    const answer = await refused(() => create(body));
    const errors: { pointer: string }[] = expectProblem(answer, 400, 'invalid-request').errors;
    expect([...new Set(errors.map(({ pointer }) => pointer))]).toEqual(pointers);
  });
});

describe('reading identities', () => {
  beforeEach(freshAlice);

  it('answers 404 for unknown identities and those of other customers', async () => {
    const { id } = (await bob.call('POST', PATH, { person_details: person })).body;
    for (const one of [id, newId()]) {
      const meta = expectProblem(await alice.call('GET', `${PATH}/${one}`), 404, 'not-found');
      expect(meta).toEqual({ resource: 'identity', id: one });
    }
    expectInvalid(await alice.call('GET', `${PATH}/x`), '/path/id');
    expect((await alice.call('GET', `${PATH}?ids=${id}`)).body).toEqual({ items: [] });
  });

  it('pages through them while others are added', async () => {
    for (let index = 0; index < 7; index += 1) {
      await create({ institution_details: institution, ref_id: `ref ${index}` });
    }
    const seen: string[] = [];
    let query = '?order=ASC&limit=3';
    for (let page = 0; page < 3; page += 1) {
      const { body } = await alice.call('GET', PATH + query);
      seen.push(...body.items.map((item: any) => item.ref_id));
      query = `?order=ASC&limit=3&page_cursor=${body.next_page_cursor}`;
      if (page === 0) await create({ institution_details: institution, ref_id: 'late' });
      expect(body.next_page_cursor === undefined).toBe(page === 2);
    }
    expect(seen).toEqual([...Array.from({ length: 7 }, (_, index) => `ref ${index}`), 'late']);
  });

  it('filters by ref_id and time, and orders by either time', async () => {
    const one = (await create({ person_details: person, ref_id: 'one' })).body;
    const two = (await create({ person_details: person, ref_id: 'two' })).body;
    const items = async (query: string) => (await alice.call('GET', `${PATH}?${query}`)).body.items;
    expect(await items('ref_ids=two&ref_ids=three')).toEqual([two]);
    expect(await items(`created_at.gt=${one.created_at}`)).toEqual([two]);
    expect(await items(`updated_at.lte=${one.updated_at}`)).toEqual([one]);
    expect(await items('order_by=UPDATED_AT')).toEqual([two, one]);
    expectInvalid(await alice.call('GET', `${PATH}?limit=1001&name=x`), '/query/limit', '/query/name');
  });

  it('needs the scopes', async () => {
    const reader = await service.createCustomer({ scopes: ['identity:read_identity'] });
    expect((await reader.call('GET', PATH)).status).toBe(200);
    const answer = await reader.call('POST', PATH, { person_details: person });
    expect(expectProblem(answer, 403, 'insufficient-scope').required).toBe('identity:write_identity');
    const writer = await service.createCustomer({ scopes: ['identity:write_identity'] });
    expect((await writer.call('POST', PATH, { person_details: person })).status).toBe(200);
    expectProblem(await writer.call('GET', PATH), 403, 'insufficient-scope');
    expectProblem(await writer.call('GET', `${PATH}/${newId()}`), 403, 'insufficient-scope');
  });
});
