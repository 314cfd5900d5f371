import { LIMITS } from '../limits.ts';
import { SLICES } from './slices.ts';
import { NOT_XML } from './xml.ts';

/**
 * A small reader of XML 1.0 for documents from outside. What makes XML dangerous it does not have: no DTD, no entities but the
 * five of XML itself and numbers of characters, no processing instructions, and bounds on everything.
 */
export type XmlNode = {
  /** Without its prefix. */
  readonly name: string;
  /** Empty if its name has none. */
  readonly prefix: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlNode[];
  /** Only its own text, without that of its children. */
  readonly text: string;
};

/** The document is not well-formed, or not accepted. */
export class XmlError extends Error {}

export type XmlBounds = { readonly depthMax: number; readonly elementsMax: number };

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const NAME = '[\\p{L}_][\\p{L}\\p{N}_.\\-]*(?::[\\p{L}_][\\p{L}\\p{N}_.\\-]*)?';
const TAG = new RegExp(`(/?)(${NAME})((?:\\s+${NAME}\\s*=\\s*(?:"[^"<]*"|'[^'<]*'))*)\\s*(/?)>`, 'uy');
const ATTRIBUTE = new RegExp(`(${NAME})\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'gu');
const DECLARATION =
  /^<\?xml\s+version\s*=\s*["']1\.[0-9]["'](?:\s+encoding\s*=\s*["']([A-Za-z0-9._-]+)["'])?(?:\s+standalone\s*=\s*["'](?:yes|no)["'])?\s*\?>/;

function characterOf(reference: string): string {
  const code = Number(reference.startsWith('x') ? `0${reference}` : reference);
  const character = code <= 0x10ffff ? String.fromCodePoint(code) : '\u0000';
  if (NOT_XML.test(character)) throw new XmlError(`&#${reference}; is not a character of XML`);
  return character;
}

function decoded(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&(?:#(x[0-9a-fA-F]{1,6}|[0-9]{1,7});|([a-z]+);)?/g, (found, number, name) => {
    if (typeof number === 'string') return characterOf(number);
    const character = ENTITIES[String(name)];
    if (character === undefined) throw new XmlError(`the entity ${found} is not accepted`);
    return character;
  });
}

function splitName(name: string): Pick<XmlNode, 'name' | 'prefix'> {
  const colon = name.indexOf(':');
  return { name: name.slice(colon + 1), prefix: colon === -1 ? '' : name.slice(0, colon) };
}

function attributesOf(text: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name, double, single] of text.matchAll(ATTRIBUTE)) {
    if (attributes.has(name!)) throw new XmlError(`the attribute ${name} is there twice`);
    attributes.set(name!, decoded(double ?? single!));
  }
  return attributes;
}

/** Text without the declaration, which may only name UTF-8. */
function withoutDeclaration(document: string): string {
  const text = document.startsWith('\ufeff') ? document.slice(1) : document;
  const [declaration, encoding = 'UTF-8'] = DECLARATION.exec(text) ?? ['', 'UTF-8'];
  if (!/^(utf-?8|us-ascii)$/i.test(encoding))
    throw new XmlError(`the encoding must be UTF-8, and not ${encoding}`);
  return text.slice(declaration.length);
}

type Open = { name: string; attributes: Map<string, string>; children: XmlNode[]; text: string };

/** The end of a comment or CDATA section that begins at that place; undefined if neither does. */
function sectionAt(text: string, at: number): { end: number; content: string } | undefined {
  for (const [start, stop, isText] of [
    ['<!--', '-->', false],
    ['<![CDATA[', ']]>', true],
  ] as const) {
    if (!text.startsWith(start, at)) continue;
    const end = text.indexOf(stop, at + start.length);
    if (end === -1) throw new XmlError(`${start} has no end`);
    return { end: end + stop.length, content: isText ? text.slice(at + start.length, end) : '' };
  }
  return undefined;
}

/** Opens or closes an element. */
function applyTag(match: RegExpExecArray, open: Open[], { depthMax }: XmlBounds): void {
  const [, isEnd, name, attributes, isEmpty] = match;
  const current = open.at(-1)!;
  if (isEnd === '/') {
    if (current.name !== name || attributes !== '' || isEmpty === '/')
      throw new XmlError(`</${name}> does not close <${current.name}>`);
    open.pop();
    open.at(-1)!.children.push({ ...current, ...splitName(name) });
    return;
  }
  const node: Open = { name: name!, attributes: attributesOf(attributes!), children: [], text: '' };
  if (isEmpty === '/') current.children.push({ ...node, ...splitName(name!) });
  else if (open.push(node) > depthMax + 1) throw new XmlError(`elements are nested deeper than ${depthMax}`);
}

/** The root of the document. */
export function readXml(document: string, bounds: XmlBounds): XmlNode {
  const steps = readingSteps(document, bounds);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The same in slices, for documents that take longer than a few milliseconds. */
export async function readXmlInSlices(document: string, bounds: XmlBounds): Promise<XmlNode> {
  const steps = readingSteps(document, bounds);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await SLICES.next();
  }
}

/** Reads the document once, from the beginning to the end, without recursion. Stops after every few tags. */
function* readingSteps(document: string, bounds: XmlBounds): Generator<undefined, XmlNode> {
  const text = withoutDeclaration(document);
  if (NOT_XML.test(text)) throw new XmlError('it contains characters that XML does not have');
  const root: Open = { name: '', attributes: new Map(), children: [], text: '' };
  const open: Open[] = [root];
  let count = 0;
  for (let at = 0; at < text.length; ) {
    const tag = text.indexOf('<', at);
    const plain = text.slice(at, tag === -1 ? text.length : tag);
    if (open.length === 1 && plain.trim() !== '')
      throw new XmlError('text stands outside of the root element');
    open.at(-1)!.text += decoded(plain);
    if (tag === -1) break;
    const section = sectionAt(text, tag);
    if (section !== undefined) {
      open.at(-1)!.text += section.content;
      at = section.end;
      continue;
    }
    TAG.lastIndex = tag + 1;
    const match = TAG.exec(text);
    if (match === null) throw new XmlError(`"${text.slice(tag, tag + 20)}" is not accepted`);
    count += 1;
    if (count % LIMITS.xmlTagsPerSlice === 0) yield;
    if (count > 2 * bounds.elementsMax) throw new XmlError(`it has more than ${bounds.elementsMax} elements`);
    applyTag(match, open, bounds);
    at = TAG.lastIndex;
  }
  if (open.length > 1) throw new XmlError(`<${open.at(-1)!.name}> is not closed`);
  if (root.children.length !== 1 || root.text.trim() !== '')
    throw new XmlError('it must have one root element');
  return root.children[0]!;
}
