import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../test/support/until.ts';
import { createConnections } from './connections.ts';
import { createShortcut, readPlainRequest } from './shortcut.ts';

const post = (body: string, ...headers: string[]): string =>
  ['POST /v2/things HTTP/1.1', 'Host: x', `Content-Length: ${body.length}`, ...headers, '', body].join(
    '\r\n',
  );
const get = (path: string, ...headers: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');

describe('a plain request', () => {
  it('is exactly one, with or without a body', () => {
    expect(readPlainRequest(Buffer.from(post('{}', 'X-Request-ID:  abc ')))).toMatchObject({
      method: 'POST',
      requestId: 'abc',
    });
    expect(readPlainRequest(Buffer.from(get('/v2/things?a=1', 'Connection: keep-alive')))).toMatchObject({
      method: 'GET',
      requestId: undefined,
    });
  });

  it.each([
    ['a part of one', post('{"a":1}').slice(0, -1)],
    ['a head without its end', post('').slice(0, -2)],
    ['two', get('/v2/a') + get('/v2/b')],
    ['one and the beginning of another', `${get('/v2/a')}G`],
    ['another path', get('/health/live')],
    ['no path', get('*')],
    ['another version', get('/v2/a').replace('1.1', '1.0')],
    ['HEAD, whose answer has no body', get('/v2/a').replace('GET', 'HEAD')],
    ['two lengths', post('{}', 'Content-Length: 2')],
    ['a signed length', post('{}').replace('Length: 2', 'Length: +2')],
    ['a list of lengths', post('{}').replace('Length: 2', 'Length: 2, 2')],
    ['a blank before the colon', post('{}').replace('Length: 2', 'Length : 2')],
    ['a chunked body', get('/v2/a', 'Transfer-Encoding: chunked')],
    ['a chunked body with a length', post('', 'transfer-encoding: chunked')],
    ['an expectation', post('{}', 'Expect: 100-continue')],
    ['an upgrade', get('/v2/a', 'Upgrade: h2c')],
    ['the last of its connection', get('/v2/a', 'Connection: close')],
    ['a folded line', get('/v2/a', 'A: b\r\n c')],
    ['a line without a colon', get('/v2/a', 'nonsense')],
    ['a line feed alone', get('/v2/a', 'A: b\nContent-Length: 5')],
    ['a NUL', get('/v2/a', 'A: \0')],
    ['extended characters', get('/v2/a', 'A: ä')],
    ['a line break before it', `\r\n${get('/v2/a')}`],
  ])('is not %s', (_what, text) => {
    expect(readPlainRequest(Buffer.from(text, 'latin1'))).toBeUndefined();
  });
});

describe('a connection with the shortcut', () => {
  let server: Server;
  let socket: Socket;
  afterEach(() => {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  });

  /** A server that answers 200 to what the parser makes, with the body that it got, and refuses everything while it sheds. */
  async function start() {
    const state = { isShedding: true, parsed: 0, refused: 0 };
    const connections = createConnections((request, response) => {
      state.parsed += 1;
      shortcut.install(request.socket);
      request.setEncoding('latin1');
      let body = '';
      request.on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => response.end(`parsed ${request.method} ${request.url} ${body};`));
    });
    const shortcut = createShortcut({
      isShedding: () => state.isShedding,
      refusalOf({ requestId }) {
        state.refused += 1;
        return `HTTP/1.1 503 X\r\ncontent-length: 8\r\nx-request-id: ${requestId}\r\n\r\nrefused;`;
      },
      isIdle: connections.isIdle,
      monitor: connections.monitor,
    });
    server = createServer(connections.take);
    connections.watch(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    socket = connect((server.address() as { port: number }).port, '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    await once(socket, 'connect');
    const answers = (): string[] => received.match(/parsed [^;]*;|refused;/g) ?? [];
    /** Sends, and waits for that many more answers. */
    const send = async (text: string, count = 1): Promise<string[]> => {
      const before = answers().length;
      socket.write(text, 'latin1');
      await until('it is answered', () => answers().length >= before + count);
      return answers().slice(before);
    };
    return { state, send, answers };
  }

  it('refuses without the parser once the parser has confirmed where requests begin', async () => {
    const { state, send } = await start();
    expect(await send(post('a'))).toEqual(['parsed POST /v2/things a;']);
    expect(await send(post('b'))).toEqual(['parsed POST /v2/things b;']);
    expect(await send(post('c'))).toEqual(['refused;']);
    expect(await send(get('/v2/d'))).toEqual(['refused;']);
    expect(state).toMatchObject({ parsed: 2, refused: 2 });
  });

  it('uses the parser again when the overload is over', async () => {
    const { state, send } = await start();
    for (const body of ['a', 'b']) await send(post(body));
    expect(await send(post('c'))).toEqual(['refused;']);
    state.isShedding = false;
    expect(await send(post('d'))).toEqual(['parsed POST /v2/things d;']);
    state.isShedding = true;
    expect(await send(post('e'))).toEqual(['parsed POST /v2/things e;']);
    expect(await send(post('f'))).toEqual(['refused;']);
  });

  it('never takes the body of a request for a request', async () => {
    const { state, send } = await start();
    for (const body of ['a', 'b']) await send(post(body));
    const inner = post('x');
    const outer = post(inner);
    const head = outer.slice(0, -inner.length);
    const { parsed } = state;
    await send(head, 0);
    await until('the head is parsed', () => state.parsed === parsed + 1);
    expect(await send(inner)).toEqual([`parsed POST /v2/things ${inner};`]);
    expect(state.refused).toBe(0);
  });

  it('never takes the rest of a head for a request', async () => {
    const { state, send } = await start();
    for (const body of ['a', 'b']) await send(post(body));
    // The second part looks like a request of its own, and belongs to a header of the first.
    await send('POST /v2/other HTTP/1.1\r\nHost: x\r\nX-Text: ', 0);
    const rest = post('y');
    // In a chunk of its own.
    await new Promise((resume) => setTimeout(resume, 100));
    const [answer] = await send(rest);
    // If both parts arrived together, they are one chunk that is not plain: the answer is the same.
    expect(answer).toBe('parsed POST /v2/other y;');
    expect(state.refused).toBe(0);
    expect(await send(post('z'))).toEqual(['parsed POST /v2/things z;']);
    expect(await send(post('z'))).toEqual(['refused;']);
  });

  it('leaves several requests in one chunk to the parser, and is not misled by them', async () => {
    const { send } = await start();
    for (const body of ['a', 'b']) await send(post(body));
    expect(await send(post('c') + post('d'), 2)).toEqual([
      'parsed POST /v2/things c;',
      'parsed POST /v2/things d;',
    ]);
    expect(await send(post('e'))).toEqual(['parsed POST /v2/things e;']);
    expect(await send(post('f'))).toEqual(['refused;']);
  });
});
