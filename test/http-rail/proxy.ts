import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Between Ferry and an adapter: loses, repeats and changes what they send. */

export type ProxyFault =
  | 'the request is lost'
  | 'the answer is lost'
  | 'the connection breaks in the middle of the answer'
  | 'there is no answer until the caller gives up'
  | 'the request arrives twice'
  | 'a gateway answers 502 after the request arrived'
  | 'a gateway redirects after the request arrived'
  | 'the answer is HTML'
  | 'the answer has another amount'
  | 'the answer has another key';

export type FaultyProxy = {
  readonly url: string;
  /** What happens to the next request with that method. Happens once. */
  strike(method: 'PUT' | 'GET', fault: ProxyFault): void;
  /** Called once, when the next request with that method has been answered by the adapter, before its answer is passed on. */
  afterNext(method: 'PUT' | 'GET', then: () => Promise<void>): void;
  /** Called once, before the next request with that method is passed on. */
  beforeNext(method: 'PUT' | 'GET', then: () => Promise<void>): void;
  /** Requests to pay that were passed on, by key. */
  requestsOf(key: string): number;
  close(): Promise<void>;
};

type Answer = { status: number; body: string };

const bodyOf = async (message: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

async function forward(target: string, incoming: IncomingMessage, body: string): Promise<Answer> {
  const response = await new Promise<IncomingMessage>((done, fail) => {
    const outgoing = request(new URL(incoming.url!, target), {
      method: incoming.method!,
      headers: incoming.headers,
      agent: false,
    });
    outgoing.on('error', fail);
    outgoing.on('response', done);
    outgoing.end(body);
  });
  return { status: response.statusCode!, body: await bodyOf(response) };
}

function altered(fault: ProxyFault | undefined, answer: Answer): Answer {
  switch (fault) {
    case 'a gateway answers 502 after the request arrived':
      return { status: 502, body: 'Bad Gateway' };
    case 'a gateway redirects after the request arrived':
      return { status: 307, body: '' };
    case 'the answer is HTML':
      return { status: 200, body: '<html>Welcome</html>' };
    case 'the answer has another amount':
      return { ...answer, body: JSON.stringify({ ...JSON.parse(answer.body), amount: '1000000' }) };
    case 'the answer has another key':
      return { ...answer, body: JSON.stringify({ ...JSON.parse(answer.body), key: 'another' }) };
    default:
      return answer;
  }
}

export async function startProxy(target: () => string): Promise<FaultyProxy> {
  const faults = new Map<string, ProxyFault>();
  const after = new Map<string, () => Promise<void>>();
  const before = new Map<string, () => Promise<void>>();
  const requests = new Map<string, number>();
  const take = <Value>(map: Map<string, Value>, method: string): Value | undefined => {
    const found = map.get(method);
    map.delete(method);
    return found;
  };

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', socket } = incoming;
    const fault = take(faults, method);
    const body = await bodyOf(incoming);
    await take(before, method)?.();
    if (fault === 'the request is lost') return void socket.destroy();
    const times = fault === 'the request arrives twice' ? 2 : 1;
    const key = url.split('/').at(-1)!;
    if (method === 'PUT') requests.set(key, (requests.get(key) ?? 0) + times);
    const answers = await Promise.all(Array.from({ length: times }, () => forward(target(), incoming, body)));
    await take(after, method)?.();
    const answer = altered(fault, answers[0]!);
    if (fault === 'the answer is lost') return void socket.destroy();
    if (fault === 'there is no answer until the caller gives up') return;
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(answer.body),
      ...(answer.status === 307 && { location: `${target()}${url}` }),
    });
    if (fault !== 'the connection breaks in the middle of the answer') return void response.end(answer.body);
    response.write(answer.body.slice(0, 10), () => socket.destroy());
  }

  const server = createServer((incoming, response) => {
    // The adapter is down: so is the connection.
    handle(incoming, response).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    strike: (method, fault) => void faults.set(method, fault),
    afterNext: (method, then) => void after.set(method, then),
    beforeNext: (method, then) => void before.set(method, then),
    requestsOf: (key) => requests.get(key) ?? 0,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
