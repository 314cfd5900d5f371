import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectSentence } from '../process/sentence.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Finished, makeDataDir, removeDataDir, runFerry, urlOf } from '../support/process.ts';

/** The commands for people. What they mean for a running service is in the other tests of this folder. */
const dataDir = makeDataDir();
let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
  await json('customer', 'create', '--name', 'Dock');
});
afterAll(async () => {
  await test.drop();
  await removeDataDir(dataDir);
});

const ferry = (...args: string[]): Promise<Finished> =>
  runFerry(args, {
    FERRY_DATA_DIR: dataDir,
    DATABASE_URL: urlOf(test.address),
    FERRY_PUBLIC_URL: 'https://pay.example/ferry',
  });

async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await ferry(...args, '--json');
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout);
}

describe('ferry user', () => {
  it('adds people with a link, changes their roles, makes new links, and disables them', async () => {
    const person = ['--name', 'Ada Lindqvist', '--email', 'Ada@example.com'];
    const added = await json('user', 'add', '--customer', 'Dock', ...person, '--role', 'maker');
    expect(added).toMatchObject({
      email: 'Ada@example.com',
      roles: ['MAKER'],
      status: 'ACTIVE',
      passkeys: 0,
    });
    expect(added.enrolment_url).toMatch(/^https:\/\/pay\.example\/ferry\/signin\/enrol#[\w-]{43}$/);
    expectSentence(await ferry('user', 'add', '--customer', 'Dock', ...person, '--role', 'viewer'), {
      code: 1,
      sentence: /^A person with the email Ada@example\.com exists already\.\n$/,
    });
    const { stdout } = await ferry('user', 'add', '--operator', ...person, '--role', 'viewer');
    expect(stdout).toMatch(
      /^Added Ada@example\.com: .*\nEnrolment link: https.*\nIt can be used once, until .*Z/,
    );
    expectSentence(await ferry('user', 'link', 'ada@example.com'), {
      code: 1,
      sentence: /^Several people have the email address ada@example\.com\. Use an id: .*\.\n$/,
    });
    expect(await json('user', 'list', '--customer', 'Dock')).toHaveLength(1);
    const listed = await json('user', 'list');
    const operator = listed.find((one: any) => one.customer_id === undefined);
    expect(listed).toHaveLength(2);

    const changed = await json('user', 'role', added.id, '--role', 'approver', '--role', 'administrator');
    expect(changed.roles).toEqual(['APPROVER', 'ADMINISTRATOR']);
    const link = await json('user', 'link', added.id, '--remove-passkeys');
    expect(link.enrolment_url).not.toBe(added.enrolment_url);
    expect(await json('user', 'sessions', added.id)).toEqual([]);
    expect(await json('user', 'revoke', added.id)).toEqual({ id: added.id, ended: 0 });
    expect((await json('user', 'disable', operator.id)).status).toBe('DISABLED');
    expectSentence(await ferry('user', 'link', operator.id), { code: 1, sentence: /is disabled\.\n$/ });
    const table = await ferry('user', 'list');
    expect(table.stdout).toMatch(/^ID +CUSTOMER +STATE +ROLES +EMAIL +NAME\n/);
    expect(table.stdout).toContain('disabled');
  });

  it('says what a client belongs to', async () => {
    const { client_id: clientId } = await json('client', 'create', '--customer', 'Dock', '--name', 'payouts');
    const line = 'user add --customer Dock --name Max --email max@example.com --role maker';
    const person = await json(...line.split(' '));
    const owned = await json('client', 'owner', clientId, '--person', 'max@example.com');
    expect(owned).toEqual({ client_id: clientId, owner_person_id: person.id });
    await json('customer', 'create', '--name', 'Pier');
    const other = await json('client', 'create', '--customer', 'Pier', '--name', 'theirs');
    expectSentence(await ferry('client', 'owner', other.client_id, '--person', person.id), {
      code: 1,
      sentence: /^The person belongs to another customer than the client\.\n$/,
    });
    const clients: any[] = await json('client', 'list');
    expect(clients.map((one) => [one.client_id, one.owner_person_id])).toEqual([
      [clientId, person.id],
      [other.client_id, null],
    ]);
    expect((await json('client', 'owner', clientId, '--person', 'none')).owner_person_id).toBeNull();
  });

  it.each([
    [
      'user add --operator --name A --email a@example.com',
      2,
      /^--role is required: viewer, maker, approver, admin/,
    ],
    [
      'user add --operator --name A --email a@example.com --role king',
      2,
      /^Unknown role "king": use viewer, /,
    ],
    ['user add --name A --email a@example.com --role maker', 2, /^--customer or --operator is required\./],
    [
      'user add --operator --name A --email nobody --role maker',
      1,
      /^--email must be an email address, such as/,
    ],
    [
      'user add --customer Nowhere --name A --email a@b.example --role maker',
      1,
      /^There is no customer with/,
    ],
    ['user role nobody@example.com --role maker', 1, /^There is no person with the id or the email address/],
    ['user disable', 2, /^Expected the id or the email address of one person\./],
    ['user subject x --subject y', 1, /^FERRY_CONFIG has no openid_provider\.\n$/],
    ['user revoke x --session y', 2, /^--session must be the id of a session\./],
  ])('refuses %s', async (line, code, sentence) => {
    expectSentence(await ferry(...line.split(' ')), { code, sentence });
  });
});
