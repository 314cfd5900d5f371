import { BANK_LIMITS } from '../limits-banks.ts';

/** The memo of a deposit: 12 letters and digits, in texts that people and banks have written around it. */
const LENGTH = 12;
/** Memos have no letters that are easily confused with others. */
const MEMO = /^[0-9A-HJKMNP-TV-Z]{12}$/;

/**
 * Everything in the texts that could be a memo: any twelve letters and digits in a row, whatever stands between them, because
 * payers group them with blanks or dashes, and banks break lines anywhere.
 */
export function memoCandidates(texts: readonly string[]): string[] {
  const candidates = new Set<string>();
  for (const text of [...texts, texts.join('')]) {
    const plain = text
      .slice(0, BANK_LIMITS.remittanceTextMax)
      .toUpperCase()
      .replaceAll(/[^0-9A-Z]/g, '');
    for (let at = 0; at + LENGTH <= plain.length; at += 1) {
      const candidate = plain.slice(at, at + LENGTH);
      if (MEMO.test(candidate)) candidates.add(candidate);
    }
  }
  return [...candidates];
}

/** The only known memo in the texts; undefined if there is none, or more than one. */
export function memoOf(texts: readonly string[], known: ReadonlySet<string>): string | undefined {
  const found = memoCandidates(texts).filter((one) => known.has(one));
  return found.length === 1 ? found[0] : undefined;
}
