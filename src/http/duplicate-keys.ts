import { invalidField, type Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';

/**
 * JSON.parse keeps the last of two fields with the same name, and other parsers keep the first: a proxy that checks a request
 * and the service that executes it would see different amounts. So duplicates are refused.
 */

const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

/** The position after the string that begins at `start`; the end of the text if the string has no end. */
export function afterString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Strings that a colon follows. */
function namesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    at = afterString(text, at);
    while (isSpace(text.charCodeAt(at))) at += 1;
    if (text.charCodeAt(at) === COLON) count += 1;
  }
  return count;
}

function fieldsOf(value: unknown, depth: number): number {
  if (value === null || typeof value !== 'object') return 0;
  if (depth === LIMITS.jsonDepthMax) throw tooDeep();
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + fieldsOf(one, depth + 1), 0);
  let count = 0;
  for (const name in value) count += 1 + fieldsOf((value as Record<string, unknown>)[name], depth + 1);
  return count;
}

export function tooDeep(): Problem {
  return invalidField('', `must not be nested more than ${LIMITS.jsonDepthMax} deep`);
}

/**
 * Whether an object of the text has two fields of the same name. `value` is what JSON.parse made of the text. Throws if it is
 * nested too deep.
 */
export function hasDuplicateKeys(text: string, value: unknown): boolean {
  return namesIn(text) !== fieldsOf(value, 0);
}

/** The first name that an object has twice: found only after it is known that there is one, so this may be slow. */
export function duplicateKey(text: string): string | undefined {
  const objects: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = afterString(text, at);
      let next = end;
      while (isSpace(text.charCodeAt(next))) next += 1;
      if (text.charCodeAt(next) === COLON) {
        const name = JSON.parse(text.slice(at, end)) as string;
        const names = objects.at(-1)!;
        if (names.has(name)) return name;
        names.add(name);
      }
      at = end - 1;
    } else if (text[at] === '{') objects.push(new Set());
    else if (text[at] === '[') objects.push(undefined);
    else if (text[at] === '}' || text[at] === ']') objects.pop();
  }
  return undefined;
}
