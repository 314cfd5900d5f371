import { readFileSync } from 'node:fs';
import { validateXML } from 'xmllint-wasm';

/** The schemas: see the README there. */
const schemaOf = (name: string): string =>
  readFileSync(new URL(`./schemas/${name}.xsd`, import.meta.url), 'utf8');

/** What is wrong with a message by the schema of that name. */
export async function faultsOf(name: string, text: string): Promise<string[]> {
  const { errors } = await validateXML({
    xml: [{ fileName: 'message.xml', contents: text }],
    schema: [schemaOf(name)],
    maxMemoryPages: 4_096,
  });
  return errors.map(({ rawMessage }) => rawMessage);
}
