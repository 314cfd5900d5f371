import { afterEach, beforeEach, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { createSignerClient } from '../../src/signer/client.ts';
import { serveSigner } from '../../src/signer/server.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { coinBytes, LANE, PAYEE } from './evm-bytes.ts';
import { commit, makeDirectory, openTestSigner, POLICY, removeDirectory } from './support.ts';

/** What the signer promises never to sign. */

let test: TestDatabase;
let directory: string;
let slot = 0;

beforeEach(async () => {
  test = await createTestDatabase();
  directory = makeDirectory();
});
afterEach(async () => {
  await test.drop();
  removeDirectory(directory);
});

const open = () =>
  openTestSigner(test.database, { directory, policy: POLICY, nowMs: () => 1_800_000_000_000 });
const signal = (): AbortSignal => AbortSignal.timeout(30_000);

async function pay() {
  slot += 1;
  const payments = [{ asset: 'ETH', units: 5n, address: PAYEE }];
  const order = { network: 'ETHEREUM', lane: LANE, slot: String(slot), payments } as const;
  const { id, keys } = await commit(test.database, order);
  return { id, key: keys[0]!, bytes: coinBytes(PAYEE, 5n, slot) };
}

const order = (assignmentId: string | null, ...keys: string[]) =>
  ({ requestId: newId(), network: 'ETHEREUM', assignmentId, keys }) as const;

it('what was discarded is not signed, not even after a restart', async () => {
  const first = await open();
  const { id, key, bytes } = await pay();
  await first.signer.discard(order(id, key), signal());
  // It can be repeated.
  await first.signer.discard(order(id, key), signal());
  expect(await first.codeFor('ETHEREUM', id, bytes)).toBe('discarded');
  await first.close();
  const second = await open();
  expect(await second.codeFor('ETHEREUM', id, bytes)).toBe('discarded');
  await second.close();
});

it('what was signed is not discarded, neither by its assignment nor by its payment', async () => {
  const tested = await open();
  const { id, key, bytes } = await pay();
  expect(await tested.codeFor('ETHEREUM', id, bytes)).toBeUndefined();
  await expect(tested.signer.discard(order(id), signal())).rejects.toThrow('the chain decides about it');
  await expect(tested.signer.discard(order(null, key), signal())).rejects.toThrow(
    'was signed under assignment',
  );
  expect(await tested.codeFor('ETHEREUM', id, bytes)).toBeUndefined();
  await tested.close();
});

it('a signature and a discard at the same time: exactly one of them', async () => {
  const tested = await open();
  for (let round = 0; round < 10; round += 1) {
    const { id, key, bytes } = await pay();
    const [code, isDiscarded] = await Promise.all([
      tested.codeFor('ETHEREUM', id, bytes),
      tested.signer.discard(order(id, key), signal()).then(
        () => true,
        () => false,
      ),
    ]);
    expect(isDiscarded).toBe(code === 'discarded');
  }
  await tested.close();
});

it('a service reaches it over the socket', async () => {
  const tested = await open();
  const { id, key, bytes } = await pay();
  const path = `${directory}/signer.sock`;
  const server = await serveSigner(tested.signer, { kind: 'socket', path, gid: undefined }, () => undefined);
  const client = createSignerClient({ socket: path });
  await client.discard(order(id, key), signal());
  await expect(client.discard(order(null), signal())).rejects.toThrow('must be UUIDs');
  expect(await tested.codeFor('ETHEREUM', id, bytes)).toBe('discarded');
  await server.close();
  await tested.close();
});
