import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A node between the service and a real one, which a test lets lie, hang or fail. */
export type RpcProxy = {
  readonly url: string;
  /** Changes what the node answers. Without a value it stays; a rejection closes the connection without an answer. */
  answer: (method: string, result: any, params: readonly any[]) => any;
  readonly calls: string[];
  stop(): Promise<void>;
};

export async function startProxy(target: string): Promise<RpcProxy> {
  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const { method, params } = JSON.parse(body) as { method: string; params: readonly unknown[] };
    proxy.calls.push(method);
    try {
      const passed = await fetch(target, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      const answer = (await passed.json()) as { result?: unknown };
      const changed = 'result' in answer ? await proxy.answer(method, answer.result, params) : undefined;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(changed === undefined ? answer : { ...answer, result: changed }));
    } catch {
      response.destroy();
    }
  }
  const server = createServer((request, response) => void pass(request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const proxy: RpcProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: () => undefined,
    calls: [],
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
  return proxy;
}
