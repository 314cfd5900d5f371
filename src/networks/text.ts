/**
 * Text in the character set of the payment networks (SWIFT X). The rule: accents are removed, letters that are others in the
 * Latin alphabet are spelled out (ß as ss, Æ as AE), a few signs have a counterpart, and everything else becomes a full stop.
 */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  Æ: 'AE',
  æ: 'ae',
  Œ: 'OE',
  œ: 'oe',
  Ø: 'O',
  ø: 'o',
  Đ: 'D',
  đ: 'd',
  Ð: 'D',
  ð: 'd',
  Þ: 'Th',
  þ: 'th',
  Ł: 'L',
  ł: 'l',
  Ħ: 'H',
  ħ: 'h',
  ı: 'i',
  Ŋ: 'N',
  ŋ: 'n',
  Ŧ: 'T',
  ŧ: 't',
  ĸ: 'k',
  ŉ: "'n",
  Ə: 'E',
  ə: 'e',
};
const SIGNS: Readonly<Record<string, string>> = {
  '&': '+',
  _: '-',
  '@': '(at)',
  '"': "'",
  '`': "'",
  '´': "'",
  '‘': "'",
  '’': "'",
  '“': "'",
  '”': "'",
  '„': "'",
  '«': "'",
  '»': "'",
  '‐': '-',
  '‑': '-',
  '–': '-',
  '—': '-',
  '−': '-',
  ';': ',',
  '#': 'Nr ',
  '%': 'pct',
  '*': '.',
  '=': '-',
  '[': '(',
  ']': ')',
  '{': '(',
  '}': ')',
  '\\': '/',
  '|': '/',
  '~': '-',
  '<': '(',
  '>': ')',
  '!': '.',
  $: 'USD ',
  '€': 'EUR ',
  '£': 'GBP ',
  '¥': 'JPY ',
};
const ACCEPTED = /^[A-Za-z0-9/\-?:().,'+ ]*$/;
const MARKS = /\p{M}/gu;

export const isNetworkText = (text: string): boolean => ACCEPTED.test(text);

function characterOf(character: string): string {
  const counterpart = LETTERS[character] ?? SIGNS[character];
  if (counterpart !== undefined) return counterpart;
  if (isNetworkText(character)) return character;
  if (/\s/u.test(character)) return ' ';
  const plain = character.normalize('NFKD').replaceAll(MARKS, '');
  if (plain === character) return '.';
  return Array.from(plain, (one) => LETTERS[one] ?? SIGNS[one] ?? (isNetworkText(one) ? one : '.')).join('');
}

/** Every character in the character set of the network. It starts with no sign that ends a field in older formats. */
export function networkText(text: string): string {
  return Array.from(text.normalize('NFC'), characterOf)
    .join('')
    .replaceAll(/ +/g, ' ')
    .replace(/^[ /:-]+/, '')
    .trimEnd();
}

/** Letters for which the network has no other, such as those of other scripts. */
export function lostLetters(text: string): string[] {
  const letters = Array.from(text.normalize('NFC')).filter((one) => /[\p{L}\p{N}]/u.test(one));
  return [...new Set(letters.filter((one) => !/[A-Za-z0-9]/.test(characterOf(one))))];
}
