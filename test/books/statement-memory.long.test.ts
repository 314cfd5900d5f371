import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient } from '../../src/auth/administration.ts';
import { ENTRY_CHECKS } from '../../src/ledger/audit-checks.ts';
import { START_NS } from '../support/history.ts';
import { patiently } from '../support/patiently.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';

let service: TestService;
let customer: TestCustomer;
let token = '';
let [small, large] = ['', ''];
beforeAll(async () => {
  service = await startTestService();
  customer = await service.createCustomer();
  const { clientId, clientSecret } = await createClient(service.database, service.vault, {
    customer: customer.id,
    name: 'reader',
    scopes: ['funding:read_profile'],
  });
  const response = await fetch(`${service.url}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    }),
  });
  ({ access_token: token } = (await response.json()) as { access_token: string });
  [small, large] = [await profileWith(10_000), await profileWith(LARGE)];
});
afterAll(() => service.stop(ENTRY_CHECKS));

const LARGE = 150_000;
const MIB = 1024 * 1024;
/** Some pages are under way between the database and the reader; all of them would be more than 15 MiB. */
const GROWN_MAX = 12 * MIB;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** A profile that received one unit so many times. The server makes the rows. */
async function profileWith(count: number): Promise<string> {
  const profile = await service.createProfile(customer);
  const { database } = service;
  const entry = (account: string, sign: string, line: number, after: string): string =>
    `insert into entries (owner_id, asset, account, at_ns, line, posting, cause_id, delta, balance_after)
     select $1, 'USD', '${account}', ${START_NS} + n * 1000, ${line}, 0,
       (lpad(to_hex(n), 8, '0') || substr($1::uuid::text, 9))::uuid, ${sign}1, ${after}
     from generate_series(1, ${count}) n`;
  await patiently(database, entry('available', '', 0, 'n'), [profile]);
  await patiently(database, entry('clearing:wire', '-', 1, 'null'), [profile]);
  await database.query(
    `insert into balances values ($1, 'USD', ${count}, 0, ${START_NS} + ${count} * 1000)`,
    [profile],
  );
  await database.query(`insert into system_deltas values ('clearing:wire', 'USD', -${count})`);
  return profile;
}

/** Reads a statement, and returns its size and by how much the heap had grown at most while it was read. */
async function read(profile: string, accept: string): Promise<{ bytes: number; grownBytes: number }> {
  const path = `/v2/profiles/${profile}/statements?asset=USD&from=2020-01-01T00:00:00Z`;
  const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${token}`, accept } });
  expect(response.status).toBe(200);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  let [bytes, grownBytes, looked] = [0, 0, 0];
  for await (const chunk of response.body!) {
    bytes += chunk.length;
    if (bytes - looked < 5_000_000) continue;
    looked = bytes;
    collectGarbage();
    grownBytes = Math.max(grownBytes, process.memoryUsage().heapUsed - before);
  }
  return { bytes, grownBytes };
}

it.each(['application/json', 'text/csv', 'application/xml'])(
  `a statement as %s of ${LARGE} entries needs no more memory than one of 10,000`,
  async (accept) => {
    const few = await read(small, accept);
    // Other parts of the process grow, too, now and then: a statement that is kept in memory grows every time.
    let many = await read(large, accept);
    for (let again = 0; again < 2 && many.grownBytes >= GROWN_MAX; again += 1)
      many = await read(large, accept);
    expect(many.bytes).toBeGreaterThan(10 * few.bytes);
    expect(many.bytes).toBeGreaterThan(15 * MIB);
    expect(many.grownBytes).toBeLessThan(GROWN_MAX);
  },
);

it('a reader that stops reading stops the reading of the database, and gives its place back', async () => {
  const path = `/v2/profiles/${large}/statements?asset=USD&from=2020-01-01T00:00:00Z`;
  const open = async (): Promise<{ status: number; close(): void }> => {
    const controller = new AbortController();
    const { status } = await fetch(service.url + path, {
      headers: { authorization: `Bearer ${token}` },
      signal: controller.signal,
    });
    return { status, close: () => controller.abort() };
  };
  const readers = [];
  for (let count = 0; count < 4; count += 1) readers.push(await open());
  expect(readers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect((await open()).status).toBe(429);
  for (const { close } of readers) close();
  await expect
    .poll(
      async () => {
        const { status, close } = await open();
        close();
        return status;
      },
      { timeout: 60_000 },
    )
    .toBe(200);
});
