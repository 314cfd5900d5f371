import { newId } from '../kernel/id.ts';
import { LIMITS } from '../limits.ts';

const REQUEST_ID = /^[\x21-\x7e]+$/;

/** The id that the client sent, if it is a sane one; otherwise a new one. */
export function requestId(header: unknown): string {
  const sane =
    typeof header === 'string' && header.length <= LIMITS.requestIdLengthMax && REQUEST_ID.test(header);
  return sane ? header : newId();
}
