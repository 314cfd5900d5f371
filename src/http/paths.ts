import { Problem } from '../kernel/problem.ts';

/** The paths of the service and their methods, for requests that no route takes. */
export type Paths = {
  /** A route, with its path in the form of the router: `/v2/things/:id`. */
  add(url: string, methods: readonly string[]): void;
  /** The path in the form of the router, if there is such a path. */
  find(target: string): string | undefined;
  /** Whether there is a path without parameters that is exactly this one. The router would take one with parameters for another method. */
  isFixed(target: string): boolean;
  /** 405 if the path supports other methods, 404 if there is no such path. */
  refuse(method: string, target: string): Problem;
};

type Known = { readonly url: string; readonly parts: readonly string[]; readonly methods: Set<string> };

/** The parts of a path as the router compares them: decoded. Undefined if they cannot be decoded. */
function partsOf(target: string): readonly string[] | undefined {
  const [path = ''] = target.split(/[?#]/, 1);
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

const isParameter = (part: string): boolean => part.startsWith(':');

function matches({ parts }: Known, asked: readonly string[]): boolean {
  return parts.every((part, index) => (isParameter(part) ? asked[index] !== '' : part === asked[index]));
}

/** As the OpenAPI document has it. */
const documented = (url: string): string => url.replaceAll(/:(\w+)/g, '{$1}');

/** How long a path may be in a sentence about it. */
const SHOWN_MAX = 200;

export function createPaths({ hasDocs }: { readonly hasDocs: boolean }): Paths {
  const byUrl = new Map<string, Known>();
  const fixed = new Set<string>();

  function known(target: string): Known | undefined {
    const asked = partsOf(target);
    if (asked === undefined) return undefined;
    const found = [...byUrl.values()].filter(
      (one) => one.parts.length === asked.length && matches(one, asked),
    );
    // As in the router, a fixed part counts before a parameter.
    return found.find(({ parts }) => !parts.some(isParameter)) ?? found[0];
  }

  return {
    add(url, methods) {
      // Behind a wildcard there are files, not operations.
      if (url.includes('*')) return;
      const one = byUrl.get(url) ?? { url, parts: url.split('/'), methods: new Set<string>() };
      for (const method of methods) one.methods.add(method);
      byUrl.set(url, one);
      if (!one.parts.some(isParameter)) fixed.add(url);
    },
    isFixed: (target) => fixed.has(target.split('?', 1)[0]!),
    find: (target) => known(target)?.url,
    refuse(method, target) {
      const found = known(target);
      if (found !== undefined) {
        const allow = [...found.methods].sort();
        return new Problem(
          'method-not-allowed',
          `${documented(found.url)} supports ${allow.join(', ')}, not ${method}.`,
          { allow },
        );
      }
      const [path = ''] = target.split('?', 1);
      const shown = path.slice(0, SHOWN_MAX);
      const hint = hasDocs ? '; see /docs' : '';
      return new Problem('not-found', `There is no operation ${method} ${shown}${hint}.`, {
        resource: 'path',
        id: shown,
      });
    },
  };
}
