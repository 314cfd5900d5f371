import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { NodeSettings } from '../../src/chains/utxo/rpc.ts';

/** Stands between the service and a node of coins, and misbehaves as a test says. */

type Call = { readonly method: string; readonly params: readonly unknown[] };
/** The result in its place; undefined leaves the node's answer as it is, and `lost` closes the connection instead. */
export type CoinFault = (call: Call, result: any) => unknown;
export const LOST = Symbol('the answer is lost');

export type CoinProxy = {
  readonly settings: NodeSettings;
  behave(fault: CoinFault | undefined): void;
  setDown(isDown: boolean): void;
  stop(): Promise<void>;
};

export async function startCoinProxy(target: NodeSettings): Promise<CoinProxy> {
  let fault: CoinFault | undefined;
  let isDown = false;
  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (isDown) {
      request.socket.destroy();
      return;
    }
    const body = await text(request);
    const call = JSON.parse(body) as Call;
    const { authorization = '' } = request.headers;
    const real = await fetch(target.url, { method: 'POST', headers: { authorization }, body });
    const content = await real.text();
    // Amounts in answers are decimals: only answers that are changed are read.
    const changed = fault?.(call, (JSON.parse(content) as { result: unknown }).result);
    if (changed === LOST) request.socket.destroy();
    else if (changed === undefined) response.writeHead(real.status).end(content);
    else response.end(JSON.stringify({ result: changed, error: null, id: 1 }));
  }
  const server = createServer((request, response) => {
    pass(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    settings: { ...target, url: `http://127.0.0.1:${port}/` },
    behave(next) {
      fault = next;
    },
    setDown(next) {
      isDown = next;
      if (next) server.closeAllConnections();
    },
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
