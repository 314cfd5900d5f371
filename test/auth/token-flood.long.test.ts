import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  type AuthNode,
  eventually,
  newTestClient,
  postToken,
  startAuthNode,
  type TestClient,
  tokenFor,
} from './auth-nodes.ts';

let test: TestDatabase;
let node: AuthNode;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const grant = { grant_type: 'client_credentials' };
const invented = (): string => `ferry_${randomBytes(12).toString('hex')}`;

/** Connections that send wrong credentials, one request after the other, until they are stopped. */
function attack(connections: number, clientId: () => string): { stop(): Promise<number[]> } {
  const done = new AbortController();
  const statuses: number[] = [];
  const one = async (): Promise<void> => {
    while (!done.signal.aborted) {
      const answer = await postToken(node.url, { ...grant, client_id: clientId(), client_secret: 'wrong' });
      await answer.text();
      statuses.push(answer.status);
    }
  };
  const running = Array.from({ length: connections }, one);
  return {
    async stop() {
      done.abort();
      await Promise.all(running);
      return statuses;
    },
  };
}

async function loginStatuses(clients: readonly TestClient[], times: number): Promise<number[]> {
  const of = async ({ clientId, clientSecret }: TestClient): Promise<number[]> => {
    const statuses: number[] = [];
    for (let time = 0; time < times; time += 1) {
      const answer = await postToken(node.url, {
        ...grant,
        client_id: clientId,
        client_secret: clientSecret,
      });
      await answer.text();
      statuses.push(answer.status);
    }
    return statuses;
  };
  return (await Promise.all(clients.map(of))).flat();
}

describe('the token endpoint under attack', () => {
  it.each([
    ['40 anonymous connections with random ids', 40, invented],
    ['60 anonymous connections with random ids', 60, invented],
  ])('%s: every right login succeeds', async (_title, connections, clientId) => {
    node = await startAuthNode(test.database);
    const clients = await Promise.all(Array.from({ length: 5 }, () => newTestClient(test.database)));
    const attackers = attack(connections, clientId);
    const statuses = await loginStatuses(clients, 10);
    const theirs = await attackers.stop();
    await node.stop();
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(theirs.length).toBeGreaterThan(connections);
    expect(new Set(theirs)).toEqual(new Set([401, 429]));
  });

  it('wrong secrets for a client do not lock it out, not even its first login from the same address', async () => {
    node = await startAuthNode(test.database);
    const attacked = await newTestClient(test.database);
    const attackers = attack(20, () => attacked.clientId);
    const wrong = { ...grant, client_id: attacked.clientId, client_secret: 'wrong' };
    await eventually(async () => (await postToken(node.url, wrong)).status === 429);
    const statuses = await loginStatuses([attacked], 20);
    const theirs = await attackers.stop();
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(theirs).toContain(429);
    expect(await tokenFor(node, attacked)).toEqual(expect.any(String));
    await node.stop();
  });
});
