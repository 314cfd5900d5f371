/** Links between operations: how the answer of one leads to the next, such as the id of a new transfer to reading it. */
type Operation = {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<string, { links?: unknown; content?: Readonly<Record<string, Content>> }>
  >;
};
type Content = { readonly schema?: { readonly $ref?: string } };
type Schemas = Readonly<Record<string, unknown>>;

const answerOf = ({ responses }: Operation): string | undefined =>
  responses['200']?.content?.['application/json']?.schema?.$ref?.split('/').at(-1);

/** `fiat_account_id` for `getFiatAccount`. */
const fieldFor = (operationId: string): string =>
  `${operationId
    .slice('get'.length)
    .replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase()}_id`;

/** Adds a link for the id of an answer, and for each of its fields that is the id of another record. */
export function addLinks(paths: Readonly<Record<string, unknown>>, schemas: Schemas): void {
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({
      path,
      method,
      operation,
    })),
  );
  const readers = all
    .filter(({ path, method }) => method === 'get' && /^[^{]*\/\{id\}$/.test(path))
    .map(({ operation }) => operation)
    .filter(({ operationId }) => /^get[A-Z]/.test(operationId));
  for (const { operation } of all) {
    const title = answerOf(operation);
    const { properties = {} } = (title === undefined ? {} : schemas[title]) as { properties?: object };
    const links = readers.flatMap((reader) => {
      const field = answerOf(reader) === title ? 'id' : fieldFor(reader.operationId);
      if (!(field in properties) || reader === operation) return [];
      const { operationId } = reader;
      return [[operationId, { operationId, parameters: { id: `$response.body#/${field}` } }] as const];
    });
    if (links.length > 0) operation.responses['200']!.links = Object.fromEntries(links);
  }
}
