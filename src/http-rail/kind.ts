import type { Static } from 'typebox';
import { isPlainHttp } from '../kernel/plain-http.ts';
import { closed } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { HTTP_RAIL_LIMITS } from '../limits-http-rail.ts';
import {
  type RailAdapter,
  type RailNode,
  type ReadContext,
  railKind,
  type SecretReference,
} from '../rails/kind.ts';
import { noticesOf } from '../rails/notice-store.ts';
import type { RailName } from '../rails/rail.ts';
import { checkAdapter } from './check.ts';
import { createAdapterClient } from './client.ts';
import { noticesRoute } from './notices-route.ts';
import { createHttpRail, loadValidation } from './rail.ts';

const { timeoutMs, timeoutMsMin, horizonMs, horizonMsMax } = HTTP_RAIL_LIMITS;

const Name = Type.String({ minLength: 1, expected: 'a non-empty string' });
const A_REFERENCE = '{"env": "NAME"} or {"file": "/path"}';
/** Any value here, because the message about a wrong one would contain it: it may be the secret itself. */
const Secret = Type.Unsafe<unknown>({ expected: A_REFERENCE });

function isReference(value: unknown): value is SecretReference {
  if (value === null || typeof value !== 'object') return false;
  const [[name, text] = [], ...others] = Object.entries(value);
  return (
    others.length === 0 && (name === 'env' || name === 'file') && typeof text === 'string' && text !== ''
  );
}

const timeoutMsMax = LIMITS.railCallTimeoutMs;
const milliseconds = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, expected: `an integer from ${minimum} to ${maximum}` });

const schema = Type.Object(
  {
    url: Name,
    secret: Secret,
    previous_secret: Type.Optional(Secret),
    timeout_ms: Type.Optional(milliseconds(timeoutMsMin, timeoutMsMax)),
    horizon_ms: Type.Optional(milliseconds(timeoutMsMin, horizonMsMax)),
    deposits: Type.Optional(Type.Boolean()),
    quotes: Type.Optional(Type.Boolean()),
  },
  closed,
);

export type HttpRailSettings = {
  readonly rail: RailName;
  readonly url: string;
  /** The present one first. */
  readonly secrets: readonly string[];
  readonly timeoutMs: number;
  readonly horizonMs: number;
  readonly takesDeposits: boolean;
  readonly quotesFees: boolean;
};

/** Why the URL cannot be that of an adapter, to follow its name; undefined if it can. */
export function adapterUrlFault(text: string, mode: ReadContext['mode']): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    return 'must be a URL that starts with https:// or http://';
  // Without the value, which contains the password.
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (/[?#]/.test(text)) return 'must be a URL without a query or fragment';
  if (mode === 'production' && isPlainHttp(text))
    return 'must start with https:// in production, because payments are sent to it, unless the adapter is on this machine';
  return undefined;
}

const SECRET_BYTES = { min: 24, max: 64 };

/** Why the text cannot be a secret, to follow its name. Never contains the text. */
export function secretFault(text: string): string | undefined {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1];
  const bytes = encoded === undefined ? 0 : Buffer.from(encoded, 'base64').length;
  if (bytes >= SECRET_BYTES.min && bytes <= SECRET_BYTES.max) return undefined;
  return `must be whsec_ followed by ${SECRET_BYTES.min} to ${SECRET_BYTES.max} bytes in base64, as printed by: echo "whsec_$(openssl rand -base64 32)"`;
}

function readSettings(
  entry: Static<typeof schema>,
  { rail, path, mode, secret }: ReadContext,
): HttpRailSettings {
  const urlFault = adapterUrlFault(entry.url, mode);
  if (urlFault !== undefined) throw new Error(`${path}.url ${urlFault}`);
  const secretAt = (name: 'secret' | 'previous_secret'): string[] => {
    const reference = entry[name];
    if (reference === undefined) return [];
    if (!isReference(reference))
      throw new Error(`${path}.${name} must be ${A_REFERENCE}: the secret itself does not stand in the file`);
    const text = secret(reference, `${path}.${name}`);
    const fault = secretFault(text);
    if (fault !== undefined) throw new Error(`${path}.${name} ${fault}`);
    return [text];
  };
  const settings = {
    rail,
    url: entry.url.replace(/\/+$/, ''),
    secrets: [...secretAt('secret'), ...secretAt('previous_secret')],
    timeoutMs: entry.timeout_ms ?? timeoutMs,
    horizonMs: entry.horizon_ms ?? horizonMs,
    takesDeposits: entry.deposits ?? true,
    quotesFees: entry.quotes ?? false,
  };
  if (settings.horizonMs < settings.timeoutMs)
    throw new Error(
      `${path}.horizon_ms must be at least timeout_ms (${settings.timeoutMs}), not ${settings.horizonMs}: a request that is still in flight is not lost`,
    );
  return settings;
}

async function openRail(settings: HttpRailSettings, node: RailNode): Promise<RailAdapter> {
  const { rail: name, secrets } = settings;
  const { database, clock, assets, networks, log } = node;
  const client = createAdapterClient({ ...settings, nowMs: clock.nowMs });
  const rail = createHttpRail({
    ...settings,
    name,
    client,
    validation: await loadValidation(),
    assets,
    networks,
    trouble: (what, facts) => log.error(facts, what),
  });
  return {
    rail,
    notices: noticesOf(database, name),
    signedRoutes: [noticesRoute({ rail: name, secrets, database, clock, assets, networks })],
    workers: [
      {
        name: `connections to the ${name} adapter`,
        stage: 'edge',
        start() {},
        stop: async () => client.close(),
      },
    ],
  };
}

/** A rail whose other side is an adapter that the operator writes, in any language: see docs/http-rail.md. */
export const HTTP_RAIL = railKind({
  name: 'http',
  serves: () => true,
  schema,
  read: readSettings,
  open: openRail,
  check: (settings: HttpRailSettings, signal) => checkAdapter(settings, signal),
});
