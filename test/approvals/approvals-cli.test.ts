import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectSentence } from '../process/sentence.ts';
import { type Finished, makeDataDir, removeDataDir, runFerry, urlOf } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Four eyes on the command line: the first approver, requests of `ferry client` and `ferry user`, and `ferry approvals`. */
const dataDir = makeDataDir();
let service: TestService;
/** The first client that can approve, with its secret. */
let approver: { readonly client_id: string; readonly client_secret: string };
beforeAll(async () => {
  service = await startTestService({ FERRY_FOUR_EYES: 'on' });
  const provider = {
    issuer: 'https://login.example.com',
    client_id: 'ferry',
    client_secret: { env: 'FERRY_OPENID_SECRET' },
    name: 'Example Login',
  };
  writeFileSync(join(dataDir, 'ferry.json'), JSON.stringify({ openid_provider: provider }));
  await json('customer', 'create', '--name', 'Operator');
});
afterAll(async () => {
  await service.stop();
  await removeDataDir(dataDir);
});

const ferry = (...args: string[]): Promise<Finished> =>
  runFerry(args, {
    FERRY_DATA_DIR: dataDir,
    DATABASE_URL: urlOf(service.address),
    FERRY_FOUR_EYES: 'on',
    FERRY_PUBLIC_URL: service.url,
    FERRY_CONFIG: join(dataDir, 'ferry.json'),
    FERRY_OPENID_SECRET: 'secret',
    ...(approver && { FERRY_CLIENT_ID: approver.client_id, FERRY_CLIENT_SECRET: approver.client_secret }),
  });

async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await ferry(...args, '--json');
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout);
}

const createClient = (name: string, ...scopes: string[]): Promise<any> =>
  json(
    'client',
    'create',
    '--customer',
    'Operator',
    '--name',
    name,
    ...scopes.flatMap((one) => ['--scope', one]),
  );
const namesOf = async (): Promise<string[]> => (await json('client', 'list')).map((one: any) => one.name);
const approve = async (id: string): Promise<any> =>
  json('approvals', 'approve', id, '--digest', (await json('approvals', 'show', id)).digest);

describe('the first approver', () => {
  it('needs no approval, nor does anything before it', async () => {
    expect((await createClient('reader', 'operator:read')).client_secret).toEqual(expect.any(String));
    const person = ['--operator', '--name', 'Ada', '--email', 'ada@example.com', '--role', 'maker'];
    expect((await json('user', 'add', ...person)).enrolment_url).toEqual(expect.any(String));
    approver = await createClient('approver', 'operator:read', 'operator:approve');
    expect(approver.client_secret).toEqual(expect.any(String));
  });

  it('is needed from then on: clients and people wait for it', async () => {
    const request = await createClient('later', 'operator:read');
    expect(request).toMatchObject({ action: 'client.create', status: 'PENDING' });
    const person = ['--operator', '--name', 'Max', '--email', 'max@example.com', '--role', 'viewer'];
    expect(await json('user', 'add', ...person)).toMatchObject({
      action: 'person.create',
      status: 'PENDING',
    });
    expect(await json('user', 'role', 'ada@example.com', '--role', 'approver')).toMatchObject({
      action: 'person.change',
      status: 'PENDING',
    });
    expect(await namesOf()).toEqual(['reader', 'approver']);
    expect(await json('user', 'list')).toHaveLength(1);
    const { stdout } = await ferry('client', 'disable', approver.client_id);
    expect(stdout).toMatch(
      /^Nothing is changed yet: request \S+ waits for the approval of somebody else\.\n$/,
    );
  });

  it('is not needed if it is disabled and there is no other: a lockout ends on the command line', async () => {
    const disabled = 'update clients set disabled_at_ns = $2 where id = $1';
    await service.database.query(disabled, [approver.client_id, 1n]);
    expect((await createClient('rescue', 'operator:read')).client_secret).toEqual(expect.any(String));
    await service.database.query(disabled, [approver.client_id, null]);
    expect(await createClient('too late', 'operator:read')).toMatchObject({ status: 'PENDING' });
  });
});

describe('ferry approvals', () => {
  it('lists, shows and approves a request, and hands its secret to the maker once', async () => {
    const { id } = await createClient('approved', 'operator:read');
    const listed = await ferry('approvals', 'list', '--action', 'client.create');
    expect(listed.stdout).toMatch(/^ID +STATUS +ACTION +MAKER +SUMMARY\n/);
    expect(listed.stdout).toMatch(new RegExp(`\n${id} +PENDING +client\\.create +cli:\\S+ +.*approved`));
    expectSentence(await ferry('approvals', 'claim', id), { code: 1, sentence: /is PENDING/ });
    const wrong = `-${'a'.repeat((await json('approvals', 'show', id)).digest.length - 1)}`;
    const refused = await ferry('approvals', 'approve', id, '--digest', wrong);
    expect(refused.stderr).toMatch(/digest/);
    expect([refused.code, await namesOf()]).toEqual([1, expect.not.arrayContaining(['approved'])]);
    expect(await approve(id)).toMatchObject({ status: 'EXECUTED', result: { type: 'client' } });
    expect(await namesOf()).toContain('approved');
    const given = await json('approvals', 'claim', id);
    expect(given).toEqual({
      approval_id: id,
      client_id: expect.any(String),
      client_secret: expect.any(String),
      secret_id: expect.any(String),
    });
    const token = await fetch(`${service.url}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${given.client_id}:${given.client_secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    expect(token.status).toBe(200);
    expect((await ferry('approvals', 'claim', id)).code).toBe(1);
    expect((await json('approvals', 'list')).items.map((one: any) => one.id)).not.toContain(id);
    expect((await json('approvals', 'list', '--all')).items.map((one: any) => one.id)).toContain(id);
  });

  it('rejects a request with a reason; nothing is executed, and nothing can be claimed', async () => {
    const { id } = await createClient('rejected', 'operator:read');
    const { digest } = await json('approvals', 'show', id);
    expect((await ferry('approvals', 'reject', id, '--digest', digest)).code).toBe(2);
    const { stdout } = await ferry(
      'approvals',
      'reject',
      id,
      '--digest',
      digest,
      '--reason',
      'unknown to us',
    );
    expect(stdout).toBe(`Request ${id} is REJECTED\n`);
    expect((await ferry('approvals', 'claim', id)).code).toBe(1);
    expect((await ferry('approvals', 'approve', id, '--digest', digest)).code).toBe(1);
    expect(await namesOf()).not.toContain('rejected');
  });

  it('hands over the enrolment link of a person whose request was approved', async () => {
    const person = ['--operator', '--name', 'Kim', '--email', 'kim@example.com', '--role', 'viewer'];
    const { id } = await json('user', 'add', ...person);
    await approve(id);
    expect(await json('approvals', 'claim', id)).toMatchObject({
      enrolment_url: expect.stringContaining('/signin/enrol#'),
    });
  });

  it('is needed to name the account with which a person signs in, and not to disable a person', async () => {
    const subjectOf = () => service.database.query('select from people where subject_digest is not null');
    const { id } = await json('user', 'subject', 'kim@example.com', '--subject', 'kim-1');
    expect(await subjectOf()).toHaveLength(0);
    expect(await approve(id)).toMatchObject({ status: 'EXECUTED' });
    expect(await subjectOf()).toHaveLength(1);
    const other = await ferry('user', 'subject', 'kim@example.com', '--subject', 'kim-2');
    expectSentence(other, { code: 1, sentence: /has another account at the OpenID provider\.\n$/ });
    expect(await json('user', 'disable', 'kim@example.com')).toMatchObject({ status: 'DISABLED' });
  });

  it.each([
    ['approvals show nothing', 1, /^There is no approval with the id "nothing"\.\n$/],
    ['approvals approve', 2, /^Expected one approval_id\./],
    ['approvals claim 019bc0fd-8ba2-7e91-9b3d-7c1f5a20d684', 1, /019bc0fd-8ba2-7e91-9b3d-7c1f5a20d684/],
  ])('refuses %s', async (line, code, sentence) => {
    expectSentence(await ferry(...line.split(' ')), { code, sentence });
  });
});
