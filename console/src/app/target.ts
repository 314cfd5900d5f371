import type { RawSearch, Search } from './screen.ts';

/** `?statuses=PENDING&statuses=FAILED`, as the operations of the interface have it. */
export function parseSearch(text: string): RawSearch {
  const raw: Record<string, string | string[]> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const before = raw[name];
    raw[name] = before === undefined ? value : [before, value].flat();
  }
  return raw;
}

export function stringifySearch(search: Search): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    for (const one of [value ?? []].flat()) query.append(name, one);
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** The customer that a person of the operator looks at stays in every address. */
export const customerOf = (search: Search): Search => {
  const { customer } = search;
  return customer === undefined ? {} : { customer };
};

/** A path below /console for the router, with the customer that is looked at. Paths of the operator are about no customer. */
export function targetOf(path: string, current: Search) {
  const [to = '/', query = ''] = path.split('?');
  const kept = to.startsWith('/operator') ? {} : customerOf(current);
  return { to, search: { ...kept, ...parseSearch(query) } as never };
}
