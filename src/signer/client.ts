import { request as httpRequest } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { LIMITS } from '../limits.ts';
import {
  REFUSAL_CODES,
  type RecordingSigner,
  type RefusalCode,
  type SignedPage,
  type SignerAccount,
  SignerRefusal,
} from './contract.ts';

/** Where a service finds the signer. Certificates and keys are PEM texts. */
export type SignerAddress =
  | { readonly socket: string }
  | {
      readonly host: string;
      readonly port: number;
      /** Of the service. */
      readonly certificate: string;
      readonly key: string;
      /** Issued the certificate of the signer. */
      readonly ca: string;
      /** The name in the certificate of the signer, if it is not the host. */
      readonly serverName?: string;
    };

/** The signer did not answer, or cannot sign at the moment. The request may be repeated with a new id. */
export class SignerUnavailable extends Error {}

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };
type Call = (method: string, path: string, signal: AbortSignal, body?: object) => Promise<Answer>;

function createCall(address: SignerAddress): Call {
  const isSocket = 'socket' in address;
  const agent = isSocket ? undefined : new Agent({ keepAlive: true, maxSockets: LIMITS.signerRequestsMax });
  const place = isSocket
    ? { socketPath: address.socket }
    : {
        host: address.host,
        port: address.port,
        cert: address.certificate,
        key: address.key,
        ca: address.ca,
        minVersion: 'TLSv1.3' as const,
        ...(address.serverName !== undefined && { servername: address.serverName }),
      };
  const shown = isSocket ? address.socket : `${address.host}:${address.port}`;
  return (method, path, signal, body) =>
    new Promise((done, fail) => {
      const text = body && JSON.stringify(body);
      const unavailable = (error: Error): void =>
        fail(
          new SignerUnavailable(`the signer at ${shown} does not answer: ${error.message}`, { cause: error }),
        );
      const options = {
        ...place,
        ...(agent && { agent }),
        method,
        path,
        signal: AbortSignal.any([signal, AbortSignal.timeout(LIMITS.signerCallMs)]),
        headers:
          text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
      };
      const call = (isSocket ? httpRequest : httpsRequest)(options, (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('error', unavailable);
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > LIMITS.signerBodyBytesMax) response.destroy(new Error('its answer is too large'));
          else chunks.push(chunk);
        });
        response.on('end', () => {
          try {
            done({
              status: response.statusCode ?? 0,
              body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
            });
          } catch (error) {
            unavailable(error as Error);
          }
        });
      });
      call.on('error', unavailable);
      call.end(text);
    });
}

const isCode = (code: unknown): code is RefusalCode => (REFUSAL_CODES as readonly unknown[]).includes(code);

function contentOf({ status, body }: Answer): unknown {
  if (status === 200) return body;
  const message = typeof body.message === 'string' ? body.message : `it answered ${status}`;
  if (isCode(body.code)) throw new SignerRefusal(body.code, message);
  throw new SignerUnavailable(message);
}

/** The signer as the service sees it. */
export function createSignerClient(address: SignerAddress): RecordingSigner {
  const call = createCall(address);
  return {
    async sign(request, signal) {
      const content = contentOf(await call('POST', '/sign', signal, request));
      return (content as { signatures: readonly string[] }).signatures;
    },
    async discard(request, signal) {
      contentOf(await call('POST', '/discard', signal, request));
    },
    account: async (network, signal) =>
      contentOf(await call('GET', `/accounts/${network}`, signal)) as SignerAccount,
    signed: async (network, fromLine, signal) =>
      contentOf(await call('GET', `/signed/${network}/${fromLine}`, signal)) as SignedPage,
  };
}
