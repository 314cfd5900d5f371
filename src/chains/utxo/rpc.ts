import { UTXO_LIMITS } from '../../limits-utxo.ts';

/** JSON-RPC of bitcoind and the nodes that follow it. */

export type NodeSettings = { readonly url: string; readonly user: string; readonly password: string };

/** The node received the call, and answered with an error. Only its code is ever used for a decision. */
export class RpcError extends Error {
  readonly code: number;
  constructor(method: string, code: number, message: string) {
    super(`${method}: ${message} (${code})`);
    this.code = code;
  }
}

/** The node did not answer, or not as a node: whether the call had an effect is unknown. */
export class NodeUnavailable extends Error {}

/** `in warmup`: the node has just started, and cannot answer yet. */
const WARMUP = -28;

export type Rpc = {
  /** Without credentials, for messages. */
  readonly name: string;
  call(method: string, params: readonly unknown[], signal: AbortSignal, timeoutMs?: number): Promise<Answer>;
};

export type Answer = {
  readonly result: unknown;
  /** What the node's clock said, from the HTTP header; undefined if it sends none. */
  readonly clockMs: number | undefined;
};

async function bodyOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > UTXO_LIMITS.answerBytesMax) throw new NodeUnavailable('the answer of the node is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Numbers with a fraction stay text: they are amounts, and would lose digits. */
const exact: Reviver = (_, value, { source }) =>
  typeof value === 'number' && (!Number.isSafeInteger(value) || /[.eE]/.test(source ?? '')) ? source : value;

function resultOf(method: string, status: number, text: string): unknown {
  if (status === 401 || status === 403)
    throw new NodeUnavailable('the node refuses the user or the password');
  let body: { result?: unknown; error?: { code: number; message: string } | null };
  try {
    body = JSON.parse(text, exact as (key: string, value: unknown) => unknown) as typeof body;
  } catch {
    throw new NodeUnavailable(`the node answers ${status} without JSON`);
  }
  const { error } = body;
  if (error === null || error === undefined) return body.result;
  if (error.code === WARMUP) throw new NodeUnavailable('the node is starting');
  throw new RpcError(method, error.code, error.message);
}

export function createRpc({ url, user, password }: NodeSettings): Rpc {
  const { host } = new URL(url);
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  return {
    name: host,
    async call(method, params, signal, timeoutMs = UTXO_LIMITS.callMs) {
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '1.0', id: 1, method, params }),
          signal: AbortSignal.any([signal, timeout]),
          redirect: 'error',
        });
        const text = await bodyOf(response);
        const date = Date.parse(response.headers.get('date') ?? '');
        const clockMs = Number.isNaN(date) ? undefined : date;
        return { result: resultOf(method, response.status, text), clockMs };
      } catch (error) {
        if (error instanceof RpcError || error instanceof NodeUnavailable) throw error;
        signal.throwIfAborted();
        const reason = timeout.aborted ? `no answer within ${timeoutMs} ms` : causeOf(error);
        throw new NodeUnavailable(`${method}: ${reason}`, { cause: error });
      }
    },
  };
}

function causeOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string }; message: string };
  return cause?.code ?? message;
}
