import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoad } from '../support/load.ts';
import { makePreparedDataDir } from '../support/prepared-data-dir.ts';
import { type FerryProcess, removeDataDir, sandboxOf, startFerry, tokenFrom } from '../support/process.ts';
import { until } from '../support/until.ts';

const MEMORY_BYTES_MAX = 300 * 1024 * 1024;

const dataDir = makePreparedDataDir();
let ferry: FerryProcess;
let token: string;
const sockets: Socket[] = [];
beforeAll(async () => {
  ferry = await startFerry({ FERRY_DATA_DIR: dataDir });
  token = await tokenFrom(ferry.url, sandboxOf(dataDir).customers[0]!);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await ferry.end('SIGTERM');
  await removeDataDir(dataDir);
});

/** A client that sends, and reads nothing. */
function sendWithoutReading(text: string): Socket {
  const { hostname, port } = new URL(ferry.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(text);
  return socket;
}

const request = (path: string, bearer?: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\n${bearer === undefined ? '' : `Authorization: Bearer ${bearer}\r\n`}\r\n`;

/** The most that the service has in memory at several looks, a second apart: metrics are rendered once a second. */
async function mostMemory(looks: number): Promise<number> {
  let most = 0;
  let seen = '';
  for (let look = 0; look < looks; look += 1) {
    await until('there are new metrics', async () => {
      const metrics = await (await fetch(`${ferry.url}/metrics`)).text();
      const isNew = metrics !== seen;
      seen = metrics;
      return isNew;
    });
    most = Math.max(most, Number(/^ferry_process_resident_memory_bytes (\S+)$/m.exec(seen)![1]));
  }
  return most;
}

const isAlive = async (): Promise<boolean> => (await fetch(`${ferry.url}/health/live`)).status === 200;

describe('clients that send hundreds of requests and read nothing', () => {
  it('do not fill the memory, and liveness is answered', async () => {
    for (let client = 0; client < 20; client += 1)
      sendWithoutReading(request('/docs/js/scalar.js').repeat(800));
    expect(await isAlive()).toBe(true);
    expect(await mostMemory(4)).toBeLessThan(MEMORY_BYTES_MAX);
    expect(await isAlive()).toBe(true);
  });

  it('do not fill the memory either if each of them asks for one page at a time', async () => {
    for (let client = 0; client < 200; client += 1) sendWithoutReading(request('/docs/js/scalar.js'));
    expect(await mostMemory(4)).toBeLessThan(MEMORY_BYTES_MAX);
    expect(await isAlive()).toBe(true);
  });
});

/** More in the long run: each asks eight times for a page of a thousand transfers. */
const CLIENTS = 600;

describe('many clients that do not read their answers', () => {
  it('do not keep anybody from moving money', async () => {
    const customer = sandboxOf(dataDir).customers[0]!;
    const [from, to] = customer.profiles.map((profile) => profile.id);
    const writing = { url: ferry.url, token, from: from!, to: to!, writers: 8 };
    const history = startLoad({ ...writing, prefix: 'before' });
    await history.untilMore(2_000);
    await history.stop();
    for (let client = 0; client < CLIENTS; client += 1)
      sendWithoutReading(request('/v2/transfer/transfers?limit=1000', token).repeat(8));
    const load = startLoad({ ...writing, prefix: 'meanwhile' });
    await load.untilMore(500);
    await load.stop();
    // Nothing was refused: reads give way.
    expect([...load.statuses.keys()]).toEqual([200]);
    expect(load.undecided.size).toBe(0);
    expect(await mostMemory(2)).toBeLessThan(2 * MEMORY_BYTES_MAX);
    expect(await isAlive()).toBe(true);
  });
});
