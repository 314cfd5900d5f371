// Requests as they go over the wire, made from templates.
import type { RequestPlan } from './job.ts';

/** Counted over all runs of this process: no ref_id comes twice. */
let sequence = 0;
const SESSION = Date.now().toString(36);

/** `{ref}` is new each time; `{name}` is any value of that list, but not the one before it: a transfer has two ends. */
function filler(template: string, lists: Readonly<Record<string, readonly string[]>>): () => string {
  const parts = template.split(/\{(\w+)\}/);
  return () => {
    let text = parts[0]!;
    let last: string | undefined;
    for (let index = 1; index < parts.length; index += 2) {
      const list = lists[parts[index]!];
      let value: string;
      if (list === undefined) {
        sequence += 1;
        value = `${SESSION}-${String(sequence).padStart(9, '0')}`;
      } else {
        do value = list[Math.floor(Math.random() * list.length)]!;
        while (value === last);
        last = value;
      }
      text += value + parts[index + 1]!;
    }
    return text;
  };
}

export type Requests = {
  first(): string;
  /** What follows the answer to the first, if anything does. */
  readonly next: ((id: string) => string) | undefined;
};

export function requestsOf(
  { method, path, body, token, lists = {}, next }: RequestPlan,
  host: string,
): Requests {
  const headOf = (bearer: string): string =>
    ` HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${bearer}\r\n`;
  const fillPath = filler(path, lists);
  const head = headOf(token);
  const nextHead = headOf(next?.token ?? '');
  const following =
    next && ((id: string) => `${next.method} ${next.path.replace('{id}', id)}${nextHead}\r\n`);
  if (body === undefined) return { first: () => `${method} ${fillPath()}${head}\r\n`, next: following };
  const fillBody = filler(body, lists);
  const jsonHead = `${head}content-type: application/json\r\ncontent-length: `;
  return {
    first() {
      const text = fillBody();
      return `${method} ${fillPath()}${jsonHead}${text.length}\r\n\r\n${text}`;
    },
    next: following,
  };
}
