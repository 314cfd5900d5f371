import { invalidField, invalidRequest, pointerPart } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import { afterString, duplicateKey, hasDuplicateKeys, tooDeep } from './duplicate-keys.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a body. Stricter than JSON.parse, which would silently replace bytes that are not UTF-8, and would accept text that
 * the database cannot store (a NUL character, an unpaired surrogate).
 */
export function readJson(body: Buffer): unknown {
  if (body.length === 0) throw invalidField('', 'must be JSON and is empty');
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw invalidField('', 'must be UTF-8');
  }
  if (hasTooManyValues(text))
    throw invalidField('', `must not have more than ${LIMITS.jsonValuesMax} values`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The parser's own message quotes the body, which may contain an account number.
    const position = / at position ([0-9]+)/.exec((error as Error).message)?.[1];
    throw invalidField('', `is not valid JSON${position === undefined ? '' : ` (position ${position})`}`);
  }
  if (hasDuplicateKeys(text, value)) {
    const name = JSON.stringify(duplicateKey(text) ?? '').slice(0, LIMITS.metadataTextMax);
    throw invalidField('', `must not have the field ${name} more than once`);
  }
  // Only an escape sequence can produce such characters, so most bodies need no check.
  const hasEscapes = text.includes('\\u');
  if (hasEscapes) refuseUnstorable(value, '');
  if (hasEscapes || text.includes('__proto__')) refusePrototype(value, '');
  return value;
}

/** Commas separate values, unless they stand in a string. Of text that is not JSON, the result does not matter. */
function hasTooManyValues(text: string): boolean {
  // Short bodies, which nearly all are, cannot have so many.
  if (text.length <= LIMITS.jsonValuesMax) return false;
  let count = 0;
  let quote = text.indexOf('"');
  for (let at = text.indexOf(','); at >= 0; ) {
    if (quote >= 0 && quote < at) {
      const end = afterString(text, quote);
      quote = text.indexOf('"', end);
      if (at < end) at = text.indexOf(',', end);
      continue;
    }
    count += 1;
    at = text.indexOf(',', at + 1);
  }
  return count >= LIMITS.jsonValuesMax;
}

/** The framework validates a missing body as null, so an optional body would accept a null that was sent. */
export function readBody(body: Buffer): unknown {
  const value = readJson(body);
  if (value === null) throw invalidField('', 'must be an object');
  return value;
}

/** For operations without a body: some clients send the content type anyway, and some send an empty object. */
export function readNoBody(body: Buffer): undefined {
  if (body.length === 0) return;
  const value = readJson(body);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw invalidField('', 'must be empty: this operation takes no body');
  }
  const unknown = Object.keys(value).map((name) => `/${pointerPart(name)}`);
  if (unknown.length > 0) {
    throw invalidRequest(unknown.map((pointer) => ({ pointer, message: 'is not a known field' })));
  }
}

function unstorable(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed();
}

function walk(
  value: unknown,
  pointer: string,
  visit: (text: string, pointer: string, isKey: boolean) => void,
  depth = 0,
): void {
  if (typeof value === 'string') visit(value, pointer, false);
  if (value === null || typeof value !== 'object') return;
  if (depth >= LIMITS.jsonDepthMax) throw tooDeep();
  for (const [key, inner] of Object.entries(value)) {
    visit(key, pointer, true);
    walk(inner, `${pointer}/${pointerPart(key)}`, visit, depth + 1);
  }
}

/** Rejects text that the database cannot store, anywhere in a body or a query. */
export function refuseUnstorable(value: unknown, root: string): void {
  const errors: { pointer: string; message: string }[] = [];
  walk(value, root, (text, pointer) => {
    if (unstorable(text))
      errors.push({
        pointer: pointer.toWellFormed(),
        message: 'contains a character that cannot be stored (NUL or an unpaired surrogate)',
      });
  });
  if (errors.length > 0) throw invalidRequest(errors);
}

function refusePrototype(value: unknown, root: string): void {
  walk(value, root, (text, pointer, isKey) => {
    if (isKey && text === '__proto__') throw invalidField(pointer, 'must not have the key "__proto__"');
  });
}
