import type { Random } from './random.ts';
import { malformedId } from './values.ts';

/** Paths that are nearly right. `path` is a valid one, and `id` an id in it, if it has one. */
type Mutate = (path: string, id: string | undefined, random: Random) => string | undefined;

const escapeOne = (path: string, random: Random): string => {
  const at = 1 + random.below(path.length - 1);
  return `${path.slice(0, at)}%${path.charCodeAt(at).toString(16).padStart(2, '0')}${path.slice(at + 1)}`;
};

export const PATH_MUTATIONS: Readonly<Record<string, Mutate>> = {
  'malformed id': (path, id, random) =>
    id === undefined ? undefined : path.replace(id, encodeURIComponent(malformedId(random, id))),
  'path syntax': (path, id, random) => {
    const last = path.slice(path.lastIndexOf('/'));
    return random.pick([
      `${path}/`,
      `/${path}`,
      path.replaceAll('/', '//'),
      path.replaceAll('/', '\\'),
      path.toUpperCase(),
      `${path};a=b`,
      `${path}.json`,
      `${path}%20`,
      `${path}%00`,
      `${path}%0d%0aX:1`,
      `${path}/..`,
      `${path}/../..${path}`,
      `${path}/%2e%2e${last}`,
      `${path}/..%2f..%2fetc%2fpasswd`,
      `${path}%2f`,
      `${path}%252f`,
      `/.${path}`,
      path.replace('/v2/', '/v1/'),
      path.replace('/v2/', '/v2/%2e%2e/v2/'),
      `${path}#x`,
      `${path}%`,
      `${path}%zz`,
      `${path}%ff`,
      id === undefined ? `${path}/x` : path.replace(id, ''),
      id === undefined ? `${path}/${'x'.repeat(300)}` : path.replace(id, 'x'.repeat(9_000)),
      path.replace(/.$/, ''),
    ]);
  },
  'odd asset': (path, _id, random) =>
    path.endsWith('/USD')
      ? path.replace(
          /USD$/,
          random.pick([
            'usd',
            '__proto__',
            'constructor',
            'toString',
            '%00',
            '%F0%9F%9A%A2',
            'A'.repeat(13),
            '..%2fUSD',
            '%20USD',
          ]),
        )
      : undefined,
  'escaped path': (path, _id, random) => escapeOne(path, random),
  'other path': (_path, _id, random) =>
    random.pick([
      '/',
      '/v2',
      '/v2/',
      '/favicon.ico',
      '/.env',
      '/admin',
      '/problems/not-found',
      '/problems/x',
      '/health/live',
      '/health/x',
      '/docs',
      '/docs/js/x.js',
      '/docs/../openapi.json',
      '/.well-known/x',
      '/oauth2/',
      '/__proto__',
      '/v2/__proto__',
      '/v2/constructor',
    ]),
};
