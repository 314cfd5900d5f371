import { BULK_MAX, type BulkOrder, type BulkResult, sendEach } from './bulk.ts';
import { OPERATIONS } from './operations.generated.ts';
import type { operations } from './schema.generated.ts';
import { type CallOptions, createTransport, type FerryOptions, type Sending } from './transport.ts';
import type { Event } from './webhooks.ts';

export type OperationName = keyof typeof OPERATIONS;

type OrNothing<Type> = [Type] extends [never] ? object : Type;
type Simplify<Type> = { [Key in keyof Type]: Type[Key] };
type PathOf<Name extends OperationName> = operations[Name] extends { parameters: { path: infer Path } }
  ? Path
  : object;
type QueryOf<Name extends OperationName> = operations[Name] extends { parameters: { query?: infer Query } }
  ? OrNothing<NonNullable<Query>>
  : object;
type BodyOf<Name extends OperationName> = operations[Name] extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? OrNothing<Body>
  : object;

/** The parameters of the path and of the query, and the fields of the body, in one object. */
export type Input<Name extends OperationName> = Simplify<PathOf<Name> & QueryOf<Name>> & BodyOf<Name>;
export type Answer<Name extends OperationName> = operations[Name] extends {
  responses: { 200: { content: { 'application/json': infer Body } } };
}
  ? Body
  : never;

/** A page, if it is awaited; all items of this and the following pages, with `for await`. */
export type List<Answered> = Promise<Answered> &
  AsyncIterable<Answered extends { items: (infer Item)[] } ? Item : never>;
type Result<Name extends OperationName> = (typeof OPERATIONS)[Name][2] extends 'list'
  ? List<Answer<Name>>
  : Promise<Answer<Name>>;
type Arguments<Name extends OperationName> =
  object extends Input<Name>
    ? [input?: Input<Name>, options?: CallOptions]
    : [input: Input<Name>, options?: CallOptions];

type Operations = { readonly [Name in OperationName]: (...args: Arguments<Name>) => Result<Name> };

export type FollowOptions = {
  /** The id of the last event that was processed. Absent: from the first event. */
  readonly after?: string;
  readonly types?: string[];
  readonly resource_ids?: string[];
  readonly signal?: AbortSignal;
};

export type Ferry = Operations & {
  /** Events in their order, as they happen. Store the id of each event that you have processed, and continue `after` it. */
  follow(options?: FollowOptions): AsyncGenerator<Event, never>;
  /**
   * Platform transfers in bulk: each with its own result, in their order. With `atomic`, all or none, at most 1,000: then a
   * problem of one of them is thrown, with its `index` in `meta`. Safe to repeat with the `refId`s of the results.
   */
  transferAll(
    transfers: readonly BulkOrder[],
    options?: CallOptions & { readonly atomic?: boolean },
  ): Promise<BulkResult[]>;
  /** The answer itself, in another format: `ferry.open('getStatement', { … }, 'text/csv')`. */
  open<Name extends OperationName>(
    name: Name,
    input: Input<Name>,
    accept: string,
    options?: CallOptions,
  ): Promise<Response>;
};

type Fields = Readonly<Record<string, unknown>>;
type Page = {
  readonly items: readonly unknown[];
  readonly next_page_cursor?: string;
  readonly has_more?: boolean;
};

/** How long the service waits for events before it answers with an empty page. */
const FOLLOW_WAIT_SECONDS = 25;
const FOLLOW_PAGE = 1_000;

function queryOf(fields: Fields): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) query.append(name, String(one));
    }
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

function newRefId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** `ref_id`, or `account.ref_id`, in the body. */
function fieldAt(body: Fields, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Fields | undefined)?.[name], body);
}

/** Turns the fields of an operation into its request. Minted once per call, the `ref_id` is the same in every attempt. */
function sendingOf(name: OperationName, input: Fields, options: CallOptions): Sending {
  const [method, template, kind] = OPERATIONS[name] as readonly [string, string, string];
  const rest = { ...input };
  const path = template.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => {
    const value = rest[parameter];
    delete rest[parameter];
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} needs ${parameter}, a text.`);
    return encodeURIComponent(value);
  });
  const common = { ...options, name, method };
  if (method === 'GET') {
    const waitMs = Number(rest.wait_seconds ?? 0) * 1_000;
    return { ...common, path: path + queryOf(rest), isRepeatable: true, waitMs };
  }
  const hasBody = method !== 'DELETE';
  if (kind === 'once' || kind === 'repeatable') {
    return { ...common, path, isRepeatable: kind === 'repeatable', ...(hasBody ? { body: rest } : {}) };
  }
  const given = fieldAt(rest, kind);
  return {
    ...common,
    path,
    body: rest,
    isRepeatable: true,
    refId: typeof given === 'string' ? given : newRefId(),
  };
}

/** A client of the service. All its calls share one token, and one client is enough for a program. */
export function createFerry(options: FerryOptions): Ferry {
  const transport = createTransport(options);
  const call = async (name: OperationName, input: Fields, callOptions: CallOptions): Promise<unknown> =>
    transport.json(sendingOf(name, input, callOptions));

  function list(name: OperationName, input: Fields, callOptions: CallOptions): List<unknown> {
    const first = call(name, input, callOptions) as Promise<Page>;
    async function* items(): AsyncGenerator<never> {
      let page = await first;
      for (;;) {
        yield* page.items as never[];
        const { next_page_cursor: cursor, has_more: hasMore = cursor !== undefined } = page;
        if (!hasMore) return;
        page = (await call(name, { ...input, page_cursor: cursor }, callOptions)) as Page;
      }
    }
    return Object.assign(first, { [Symbol.asyncIterator]: items });
  }

  async function* follow({ after, signal, ...filter }: FollowOptions = {}): AsyncGenerator<Event, never> {
    let cursor = after;
    for (;;) {
      const input = { ...filter, page_cursor: cursor, limit: FOLLOW_PAGE, wait_seconds: FOLLOW_WAIT_SECONDS };
      const page = (await call('listEvents', input, signal === undefined ? {} : { signal })) as Page;
      yield* page.items as Event[];
      cursor = page.next_page_cursor;
    }
  }

  const methods = Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, [, , kind]]) => [
      name,
      (input: Fields = {}, callOptions: CallOptions = {}) =>
        (kind === 'list' ? list : call)(name as OperationName, input, callOptions),
    ]),
  );
  const open = async (name: OperationName, input: Fields, accept: string, callOptions: CallOptions = {}) =>
    transport.open({ ...sendingOf(name, input, callOptions), accept });
  async function transferAll(
    given: readonly BulkOrder[],
    { atomic = false, ...callOptions }: CallOptions & { atomic?: boolean } = {},
  ): Promise<BulkResult[]> {
    if (atomic && given.length > BULK_MAX)
      throw new RangeError(`At most ${BULK_MAX} transfers can be atomic.`);
    // Minted once, before the first attempt.
    const orders = given.map((one) => ({ ...one, ref_id: one.ref_id ?? newRefId() }));
    return sendEach(orders, async (transfers) => {
      const answer = await call('createPlatformTransfers', { transfers, atomic }, callOptions);
      return (answer as Answer<'createPlatformTransfers'>).results;
    });
  }
  return { ...methods, follow, open, transferAll } as unknown as Ferry;
}
