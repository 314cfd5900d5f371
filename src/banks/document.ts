import { readXmlInSlices, XmlError, type XmlNode } from '../kernel/xml-reader.ts';
import { BANK_LIMITS } from '../limits-banks.ts';

/** A file of the bank that cannot be taken. It is set aside with this sentence, and nothing in it has an effect. */
export class UnacceptableFile extends Error {}

export const child = (node: XmlNode | undefined, name: string): XmlNode | undefined =>
  node?.children.find((one) => one.name === name);
export const childrenOf = (node: XmlNode | undefined, name: string): readonly XmlNode[] =>
  node?.children.filter((one) => one.name === name) ?? [];
export const nodeAt = (node: XmlNode | undefined, path: string): XmlNode | undefined =>
  path.split('/').reduce(child, node);
/** Undefined for an empty text, too. */
export const textAt = (node: XmlNode | undefined, path: string): string | undefined =>
  nodeAt(node, path)?.text.trim() || undefined;

const NAMESPACE = /^urn:iso:std:iso:20022:tech:xsd:((?:pain|camt|pacs)\.\d{3})\.\d{3}\.\d{2}$/;

/** The messages that are taken, by the element that each has in its document. */
const MESSAGES = {
  'pain.002': 'CstmrPmtStsRpt',
  'camt.053': 'BkToCstmrStmt',
  'camt.054': 'BkToCstmrDbtCdtNtfctn',
  'pacs.002': 'FIToFIPmtStsRpt',
  'pacs.004': 'PmtRtr',
  'pacs.008': 'FIToFICstmrCdtTrf',
} as const;
export type MessageName = keyof typeof MESSAGES;

export type ReadDocument = { readonly name: MessageName; readonly message: XmlNode };

/** Elements of another namespace would otherwise be taken for those of the message. Supplementary data may have any. */
function checkNamespaces(root: XmlNode): void {
  const remaining: XmlNode[] = [...root.children];
  for (let node = remaining.pop(); node !== undefined; node = remaining.pop()) {
    if (node.prefix !== root.prefix) throw new UnacceptableFile(`<${node.name}> is in another namespace`);
    for (const name of node.attributes.keys())
      if (name === 'xmlns' || name.startsWith('xmlns:'))
        throw new UnacceptableFile(`<${node.name}> declares another namespace`);
    if (node.name !== 'SplmtryData') for (const one of node.children) remaining.push(one);
  }
}

/** In slices, because a large file would keep the node from answering requests for a second. */
async function parsed(bytes: Uint8Array): Promise<XmlNode> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UnacceptableFile('it is not text in UTF-8');
  }
  try {
    return await readXmlInSlices(text, {
      depthMax: BANK_LIMITS.receivedDepthMax,
      elementsMax: BANK_LIMITS.receivedElementsMax,
    });
  } catch (error) {
    if (error instanceof XmlError) throw new UnacceptableFile(`it is not acceptable XML: ${error.message}`);
    throw error;
  }
}

/** A message of ISO 20022, in any version. */
export async function readDocument(bytes: Uint8Array): Promise<ReadDocument> {
  const root = await parsed(bytes);
  if (root.name !== 'Document') throw new UnacceptableFile(`its root is <${root.name}>, and not <Document>`);
  const namespace = root.attributes.get(root.prefix === '' ? 'xmlns' : `xmlns:${root.prefix}`);
  const [, name] = NAMESPACE.exec(namespace ?? '') ?? [];
  if (name === undefined || !(name in MESSAGES))
    throw new UnacceptableFile(
      `it is ${name === undefined ? 'no message of ISO 20022' : `a ${name}`}; ${Object.keys(MESSAGES).join(', ')} are read`,
    );
  checkNamespaces(root);
  const message = child(root, MESSAGES[name as MessageName]);
  if (message === undefined || root.children.length !== 1)
    throw new UnacceptableFile(`a ${name} must have one <${MESSAGES[name as MessageName]}>`);
  return { name: name as MessageName, message };
}
