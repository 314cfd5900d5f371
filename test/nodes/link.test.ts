import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls, createServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { type Link, openLink } from '../../src/nodes/link.ts';
import { createLinkServer, type LinkServer } from '../../src/nodes/link-server.ts';
import { clientTls, serverTls } from '../../src/nodes/tls.ts';
import { createVault, newDataKey } from '../../src/sealing/vault.ts';
import { until } from '../support/until.ts';

const vault = createVault([{ id: 1, key: newDataKey() }]);
const otherVault = createVault([{ id: 1, key: newDataKey() }]);
const host = '127.0.0.1';

const executed: string[] = [];
const losses: number[] = [];
const closing: (() => unknown)[] = [];
// A busy machine must not end a link.
const PATIENT = { nodeLinkOpenMs: 120_000, nodeLinkSilenceMs: 120_000 };
beforeEach(() => void Object.assign(LIMITS, PATIENT));
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  executed.length = 0;
  losses.length = 0;
});

async function listen(
  execute: Parameters<typeof createLinkServer>[0]['execute'] = (text) =>
    Promise.resolve({ outcome: { replayed: false, answer: text.toUpperCase() } }),
): Promise<{ server: LinkServer; port: number }> {
  const server = createLinkServer({
    vault,
    host,
    port: 0,
    execute(text) {
      executed.push(text);
      return execute(text);
    },
  });
  closing.push(() => server.close());
  return { server, port: await server.listen() };
}

function linkTo(port: number, own = vault): Link {
  const link = openLink({ nodeId: 'other', address: `${host}:${port}` }, own, (commands) =>
    losses.push(commands),
  );
  closing.push(link.retire);
  return link;
}

const opened = (link: Link): Promise<void> => until('the link is open', () => link.isOpen());
const closed = (link: Link): Promise<void> => until('the link is closed', () => link.isClosed());

describe('a link', () => {
  it('carries many commands at once, and each gets its own reply', async () => {
    const { port } = await listen();
    const link = linkTo(port);
    await opened(link);
    const texts = Array.from({ length: 2_000 }, (_, index) => `text ${index} ${'ö'.repeat(index % 50)}`);
    const replies = await Promise.all(texts.map((text) => link.send(text)));
    expect(replies).toEqual(
      texts.map((text) => ({ outcome: { replayed: false, answer: text.toUpperCase() } })),
    );
    expect(link.waiting()).toBe(0);
  });

  it('gets declined what the other node does not decide', async () => {
    const { port } = await listen(() => undefined);
    const link = linkTo(port);
    await opened(link);
    expect(await link.send('text')).toBe('declined');
  });

  it('loses what waits for its reply when the other node ends', async () => {
    const { server, port } = await listen(() => new Promise(() => undefined));
    const link = linkTo(port);
    await opened(link);
    const replies = [link.send('one'), link.send('two')];
    await until('both are being executed', () => executed.length === 2);
    await server.close();
    expect(await Promise.all(replies)).toEqual(['lost', 'lost']);
    expect(losses).toEqual([2]);
  });

  it('is lost if the other node gives no sign of life', async () => {
    Object.assign(LIMITS, { nodeLinkSilenceMs: 300 });
    const frozen = createServer(serverTls(vault)).listen({ host, port: 0 });
    closing.push(() => frozen.close());
    await once(frozen, 'listening');
    const link = linkTo((frozen.address() as { port: number }).port);
    await opened(link);
    expect(await link.send('text')).toBe('lost');
    await closed(link);
  });

  it('waits for the replies that are missing when it is retired', async () => {
    let reply: () => void = () => undefined;
    const { port } = await listen(
      () =>
        new Promise((resolve) => {
          reply = () => resolve({ outcome: { replayed: false, answer: 'done' } });
        }),
    );
    const link = linkTo(port);
    await opened(link);
    const replied = link.send('text');
    await until('it is being executed', () => executed.length === 1);
    link.retire();
    expect(link.isOpen()).toBe(false);
    reply();
    expect(await replied).toEqual({ outcome: { replayed: false, answer: 'done' } });
    await closed(link);
    expect(losses).toEqual([]);
  });
});

describe('a stranger', () => {
  it('with another key gets no connection, and nothing is executed', async () => {
    const { port } = await listen();
    const link = linkTo(port, otherVault);
    await closed(link);
    expect(executed).toEqual([]);
    expect(losses).toEqual([]);
  });

  it('that listens in place of the node gets nothing', async () => {
    const received: unknown[] = [];
    const impostor = createServer(serverTls(otherVault), (socket) =>
      socket.on('data', (data) => received.push(data)),
    ).listen({ host, port: 0 });
    closing.push(() => impostor.close());
    await once(impostor, 'listening');
    const link = linkTo((impostor.address() as { port: number }).port);
    await closed(link);
    expect(received).toEqual([]);
  });

  it.each([
    ['of another release', { ...clientTls(vault), pskCallback: () => null }],
    ['with certificates instead of the key', { rejectUnauthorized: false }],
  ] as const)('%s gets no connection', async (_name, options) => {
    const { port } = await listen();
    const socket = connectTls({ host, port, ...options });
    const [error] = await once(socket, 'error');
    expect(error).toBeInstanceOf(Error);
    expect(executed).toEqual([]);
  });

  it('that does not encrypt is disconnected', async () => {
    const { port } = await listen();
    const socket = connectTcp({ host, port });
    socket.on('error', () => undefined);
    socket.write('1 text\n');
    await once(socket, 'close');
    expect(executed).toEqual([]);
  });

  it('that sends nothing is disconnected', async () => {
    Object.assign(LIMITS, { nodeLinkOpenMs: 300 });
    const { port } = await listen();
    const socket = connectTcp({ host, port });
    await once(socket, 'close');
    expect(executed).toEqual([]);
  });
});

it('a line that is too long ends the connection', async () => {
  const { port } = await listen();
  const link = linkTo(port);
  await opened(link);
  expect(await link.send('x'.repeat(2 * LIMITS.nodeLinkLineMax))).toBe('lost');
  expect(executed).toEqual([]);
});
