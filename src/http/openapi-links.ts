/** Links between operations: how the answer of one leads to the next, such as the id of a new transfer to reading it. */
type Operation = {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<string, { links?: unknown; content?: Readonly<Record<string, Content>> }>
  >;
};
type Content = { readonly schema?: { readonly $ref?: string } };
type Schemas = Readonly<Record<string, unknown>>;
type Place = { readonly path: string; readonly method: string; readonly operation: Operation };
/** An operation on the record that the only parameter of its path names. */
type Target = Place & { readonly collection: string; readonly parameter: string };

const answerOf = ({ responses }: Operation): string | undefined =>
  responses['200']?.content?.['application/json']?.schema?.$ref?.split('/').at(-1);

function propertiesOf(title: string | undefined, schemas: Schemas): object {
  const { properties = {} } = (title === undefined ? {} : schemas[title]) as { properties?: object };
  return properties;
}

/** `fiat_account_id` for `getFiatAccount`. */
const fieldFor = (operationId: string): string =>
  `${operationId
    .slice('get'.length)
    .replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase()}_id`;

function targetOf(place: Place): Target | undefined {
  const [, collection, parameter] = /^([^{]*)\/\{(\w+)\}[^{]*$/.exec(place.path) ?? [];
  return collection === undefined || parameter === undefined
    ? undefined
    : { ...place, collection, parameter };
}

const isReader = ({ path, method, operation }: Target): boolean =>
  method === 'get' && path.endsWith('/{id}') && /^get[A-Z]/.test(operation.operationId);

/** Where an answer has the id for an operation, as a pointer. */
function pointerTo(target: Target, source: Place, schemas: Schemas): string | undefined {
  const title = answerOf(source.operation);
  const properties = propertiesOf(title, schemas);
  const isRecord = isReader(target) && answerOf(target.operation) === title;
  if (isRecord || source.path === target.collection) {
    return target.parameter in properties ? target.parameter : undefined;
  }
  const field = fieldFor(target.operation.operationId);
  return isReader(target) && field in properties ? field : undefined;
}

/**
 * Adds a link for the id of a record to the operation that reads it, from its creation also to everything that can be done with
 * the record, and for each field that is the id of another record to the operation that reads that one. None from lists, which can
 * be empty.
 */
export function addLinks(paths: Readonly<Record<string, unknown>>, schemas: Schemas): void {
  const all: Place[] = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({
      path,
      method,
      operation,
    })),
  );
  const targets = all.map(targetOf).filter((target) => target !== undefined);
  for (const source of all) {
    const links = targets.flatMap((target) => {
      const pointer = pointerTo(target, source, schemas);
      if (pointer === undefined || target.operation === source.operation) return [];
      const { operationId } = target.operation;
      const parameters = { [target.parameter]: `$response.body#/${pointer}` };
      return [[operationId, { operationId, parameters }] as const];
    });
    if (links.length > 0) source.operation.responses['200']!.links = Object.fromEntries(links);
  }
}
