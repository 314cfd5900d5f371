const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** What XML 1.0 does not have, not even escaped, or advises against: control characters, lone surrogates, U+FFFE and U+FFFF. */
export const NOT_XML = /(?![\t\n\r])\p{Cc}|[\ufffe\uffff]|\p{Cs}/u;
const ALL_NOT_XML = new RegExp(NOT_XML, 'gu');

/** Text as the content of an element or attribute. Characters that cannot be written become U+FFFD. */
export function xmlText(text: string): string {
  return text.replace(ALL_NOT_XML, '\ufffd').replaceAll(/[&<>"']/g, (one) => ESCAPES[one]!);
}

/** An element with the elements in it, in order; those that are undefined are left out. */
export type XmlElement = readonly [
  name: string,
  content: string | readonly (XmlElement | undefined)[],
  attributes?: Readonly<Record<string, string>>,
];

export function xmlOf([name, content, attributes = {}]: XmlElement): string {
  const inner =
    typeof content === 'string'
      ? xmlText(content)
      : content.map((one) => (one === undefined ? '' : xmlOf(one))).join('');
  const values = Object.entries(attributes).map(([key, value]) => ` ${key}="${xmlText(value)}"`);
  return `<${name}${values.join('')}>${inner}</${name}>`;
}
