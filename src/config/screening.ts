import { adapterUrlFault, secretFault } from '../http-rail/kind.ts';
import { LIMITS } from '../limits.ts';
import type { ScreeningHook } from '../policies/screening.ts';
import { type RailContext, readSecret } from './rails.ts';

type Entry = { readonly url: string; readonly secret: unknown; readonly timeout_ms?: number };

function readHook(name: string, entry: Entry, { env, mode }: RailContext): ScreeningHook {
  const path = `screening.${name}`;
  const urlFault = adapterUrlFault(entry.url, mode);
  if (urlFault !== undefined) throw new Error(`${path}.url ${urlFault}`);
  const reference = entry.secret as Record<string, unknown> | null;
  const [[kind, value] = [], ...others] = Object.entries(reference ?? {});
  if (others.length > 0 || (kind !== 'env' && kind !== 'file') || typeof value !== 'string' || value === '')
    throw new Error(
      `${path}.secret must be {"env": "NAME"} or {"file": "/path"}: the secret itself does not stand in the file`,
    );
  const secret = readSecret(env, { [kind]: value } as never, `${path}.secret`);
  const fault = secretFault(secret);
  if (fault !== undefined) throw new Error(`${path}.secret ${fault}`);
  return {
    url: entry.url.replace(/\/+$/, ''),
    secrets: [secret],
    timeoutMs: entry.timeout_ms ?? LIMITS.screeningTimeoutMs,
  };
}

/** `screening` in the configuration file: the hooks that policies can name. Throws an error whose message names the entry. */
export function readScreening(
  entries: Readonly<Record<string, Entry>>,
  context: RailContext,
): ReadonlyMap<string, ScreeningHook> {
  return new Map(Object.entries(entries).map(([name, entry]) => [name, readHook(name, entry, context)]));
}
