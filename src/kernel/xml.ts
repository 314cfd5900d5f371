const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Characters that XML 1.0 does not have, not even escaped: control characters, lone surrogates, U+FFFE and U+FFFF. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is replaced
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu;

/** Text as the content of an element or attribute. Characters that cannot be written become U+FFFD. */
export function xmlText(text: string): string {
  return text.replace(NOT_XML, '\ufffd').replaceAll(/[&<>"']/g, (one) => ESCAPES[one]!);
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
