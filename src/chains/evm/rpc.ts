/** JSON-RPC of one node. What went wrong is told apart by where it went wrong, never by the text of an error. */

export type Rpc = {
  /** Without credentials, for logs and findings. */
  readonly name: string;
  /** Throws NodeUnreachable if the node gave no answer, and RpcRefusal if its answer is an error. */
  call<Result>(method: string, params: readonly unknown[], signal: AbortSignal): Promise<Result>;
  /** How many requests were sent. */
  readonly calls: () => number;
};

/** No answer, or one that is no JSON-RPC: the node counts as down for a while. */
export class NodeUnreachable extends Error {}

/** The node answers, and has refused this request: that says nothing about its health. */
export class RpcRefusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

type Answer = {
  readonly result?: unknown;
  readonly error?: { readonly code?: number; readonly message?: string };
};

async function post(url: string, body: string, signal: AbortSignal): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal,
    redirect: 'error',
  });
  const text = await response.text();
  // Some nodes answer an error of JSON-RPC with a status other than 200.
  const answer = JSON.parse(text) as Answer | null;
  if (
    typeof answer !== 'object' ||
    answer === null ||
    (answer.result === undefined && answer.error === undefined)
  )
    throw new Error(`status ${response.status} without an answer of JSON-RPC`);
  return answer;
}

export function createRpc(url: string, timeoutMs: number): Rpc {
  const name = new URL(url).host;
  let calls = 0;
  return {
    name,
    calls: () => calls,
    async call<Result>(method: string, params: readonly unknown[], signal: AbortSignal) {
      calls += 1;
      const body = JSON.stringify({ jsonrpc: '2.0', id: calls, method, params });
      const limit = AbortSignal.timeout(timeoutMs);
      let answer: Answer;
      try {
        answer = await post(url, body, AbortSignal.any([signal, limit]));
      } catch (error) {
        // The caller's own deadline says nothing about the node.
        if (signal.aborted) throw signal.reason;
        const why = limit.aborted ? `no answer within ${timeoutMs} ms` : (error as Error).message;
        throw new NodeUnreachable(`${name}: ${why}`);
      }
      if (answer.error === undefined) return answer.result as Result;
      const { code = 0, message = 'no reason given' } = answer.error;
      throw new RpcRefusal(code, `${name} refused ${method}: ${message}`);
    },
  };
}
