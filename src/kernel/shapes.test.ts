import { expect, it } from 'vitest';
import { LABEL_PATTERN, OPTIONAL_TEXT_PATTERN, PRINTABLE_PATTERN, TEXT_PATTERN } from './shapes.ts';

/** What the ranges stand for. */
const CLASSES = [
  [OPTIONAL_TEXT_PATTERN, String.raw`^[^\p{Cc}]*$`],
  [TEXT_PATTERN, String.raw`^\p{Z}*[^\p{Cc}\p{Z}][^\p{Cc}]*$`],
  [LABEL_PATTERN, String.raw`^[^\p{Cc}\p{Z}]([^\p{Cc}]*[^\p{Cc}\p{Z}])?$`],
  [PRINTABLE_PATTERN, String.raw`^[^\p{Cc}\p{Cf}\p{Co}]*$`],
] as const;

/** Not the ideographs, of which none is in one of the classes; surrogates stand for no character. */
const RANGES = [
  [0, 0x33ff],
  [0xa000, 0xabff],
  [0xe000, 0xffff],
  [0x1f300, 0x1faff],
] as const;

it.each(CLASSES)('%s matches the characters of %s', (ranges, classes) => {
  const [actual, expected] = [new RegExp(ranges, 'u'), new RegExp(classes, 'u')];
  const different: string[] = [];
  for (const [first, last] of RANGES) {
    for (let code = first; code <= last; code += 1) {
      const character = String.fromCodePoint(code);
      for (const text of [character, `a${character}b`]) {
        if (actual.test(text) !== expected.test(text)) different.push(code.toString(16));
      }
    }
  }
  // Go reads no pattern that contains the byte order mark: the range around it has two characters more, both unassigned.
  expect(different.filter((code) => code !== 'fefe' && code !== 'ff00')).toEqual([]);
});

it('no pattern uses classes that other languages do not know', () => {
  for (const [ranges] of CLASSES) {
    expect(ranges).not.toMatch(/\\[pu]/i);
    // Many engines have no flag for Unicode, or do not set it.
    expect(() => new RegExp(ranges)).not.toThrow();
  }
});
