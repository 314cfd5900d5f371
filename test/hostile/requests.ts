import type { Operation } from '../support/openapi.ts';
import type { Header } from './headers.ts';

/** A request as it goes over the wire. */
export type Request = {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly Header[];
  readonly body?: Buffer;
  /** In chunks of this size instead of with a length. */
  readonly chunkBytes?: number;
};

/** Exact bytes, for what no HTTP client would send. Always on a connection of its own. */
export type Raw = {
  readonly bytes: Buffer;
  /** The client sends no more after the bytes: what is incomplete stays so. */
  readonly halfClose?: boolean;
  /** HTTP leaves it to the service whether it answers before it closes the connection. */
  readonly mayGoUnanswered?: boolean;
  /** The bytes contain more than one request. */
  readonly answersMax?: number;
};

export type Expectation = {
  /** It must be refused: with one of these statuses, if any are given. */
  readonly refused: boolean;
  readonly statuses?: readonly number[];
  /** The token alone decides: 401 or 403, whatever the rest of the request is. */
  readonly access?: 401 | 403;
  /** Only for requests that may be accepted: they are sent one at a time, so that what they write can be told apart. */
  readonly mayWrite: boolean;
};

export type Plan = {
  readonly number: number;
  readonly operation: Operation;
  /** What is hostile about it; the counters of a run are by these. */
  readonly kind: string;
  readonly access: string;
  readonly request: Request;
  readonly raw?: Raw;
  /** The path is not one of the operation, or not certainly: the answer is any problem, or that of another operation. */
  readonly oddPath?: boolean;
  readonly expected: Expectation;
  /** The second of two requests that differ in one id only: their answers must not differ in anything else. */
  readonly twin?: { readonly request: Request; readonly id: string; readonly twinId: string };
};

export function bytesOf({ method, target, headers, body, chunkBytes }: Request, host: string): Buffer {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    `Host: ${host}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  if (body !== undefined)
    lines.push(chunkBytes === undefined ? `Content-Length: ${body.length}` : 'Transfer-Encoding: chunked');
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (body === undefined) return head;
  return Buffer.concat([head, ...(chunkBytes === undefined ? [body] : chunks(body, chunkBytes))]);
}

function chunks(body: Buffer, size: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return [...pieces, Buffer.from('0\r\n\r\n')];
}

const SHOWN_BYTES_MAX = 2_000;

/** For people: one line, with escapes for everything that is not printable. */
export function shown(bytes: Buffer): string {
  const text = JSON.stringify(bytes.subarray(0, SHOWN_BYTES_MAX).toString('latin1')).slice(1, -1);
  const escaped = text.replaceAll(
    /[^ -~]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const cut = bytes.length > SHOWN_BYTES_MAX ? ` … (${bytes.length} bytes)` : '';
  // The token is worth nothing after the run, but fills the screen.
  return escaped.replace(/(Bearer [\w-]{8})[\w.-]{60,}/g, '$1…') + cut;
}
