import { LIMITS } from '../../limits.ts';
import type { SolanaNode } from './settings.ts';

/** One node, asked over JSON-RPC. */
export type Node = {
  readonly name: string;
  call<Result>(method: string, params: readonly unknown[], signal: AbortSignal): Promise<Result>;
};

/** The node has answered, with an error. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const LONG_INTEGER = /[:,[]\s*-?\d{16,}/;

/**
 * Integers that a JavaScript number cannot hold become bigints. Only answers that contain one are parsed slowly: a block has
 * hundreds of thousands of values.
 */
export function parseAnswer(text: string): unknown {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    const isInexact = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
    return isInexact && context?.source !== undefined ? BigInt(context.source) : value;
  });
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > LIMITS.solanaAnswerBytesMax) throw new Error(`the answer has more than ${bytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

type Answer = { result?: unknown; error?: { code?: number; message?: string } };

/** The address of a node without what may be a secret in it: providers put keys into paths and queries. */
const nameOf = (url: string): string => new URL(url).host;

export function connectNode({ url, headers }: SolanaNode): Node {
  const name = nameOf(url);
  return {
    name,
    async call<Result>(method: string, params: readonly unknown[], signal: AbortSignal): Promise<Result> {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(LIMITS.solanaCallMs)]),
      });
      const text = await readBounded(response);
      if (!response.ok) throw new Error(`${name} answered ${method} with HTTP status ${response.status}`);
      const { result, error } = parseAnswer(text) as Answer;
      if (error !== undefined) {
        throw new RpcError(error.code ?? 0, `${name} refused ${method}: ${error.message ?? 'no reason'}`);
      }
      return result as Result;
    },
  };
}
