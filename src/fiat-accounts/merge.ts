import type { FieldError } from '../kernel/problem.ts';
import type { FiatNetworkInstructions } from '../networks/fiat.ts';
import { isMasked } from '../networks/instructions.ts';
import type { Networks } from '../networks/register.ts';
import { instructionsShape } from '../networks/schema.ts';
import { type FiatAccount, masked } from './fiat-account.ts';
import { kindOf } from './rules.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The names that instructions of the kind must have. */
function requiredOf(networks: Networks, kind: string): readonly string[] {
  const { properties } = instructionsShape(networks, 'whole') as unknown as {
    readonly properties: Readonly<Record<string, { readonly required?: readonly string[] }>>;
  };
  return properties[kind]?.required ?? [];
}

/**
 * The instructions after a change. Complete ones replace the stored ones, so that a caller can remove an optional part; of
 * others, the given fields replace the stored ones. A number that equals the mask of the stored one is the stored one.
 */
export function mergedInstructions(
  account: Pick<FiatAccount, 'kind' | 'fiatNetworkInstructions'>,
  changed: FiatNetworkInstructions | undefined,
  networks: Networks,
): { readonly instructions: FiatNetworkInstructions; readonly faults: readonly FieldError[] } {
  const { fiatNetworkInstructions: stored } = account;
  if (changed === undefined) return { instructions: stored, faults: [] };
  const kind = kindOf(changed, networks);
  const { field } = networks.fiat(kind).instructions.account;
  const before = (stored[kind] ?? {}) as unknown as Fields;
  const given = changed[kind] as unknown as Fields;
  const isComplete = requiredOf(networks, kind).every((name) => given[name] !== undefined);
  const number = given[field] as string | undefined;
  const isUnchanged = number === undefined || number === masked(String(before[field]));
  const fields = {
    ...(isComplete ? {} : before),
    ...given,
    [field]: isUnchanged ? before[field] : number,
  };
  const faults =
    !isUnchanged && isMasked(number)
      ? [
          {
            pointer: `/fiat_network_instructions/${kind}/${field}`,
            message: 'is masked, but not as the stored one: send it whole, or leave it out',
          },
        ]
      : [];
  return { instructions: { [kind]: fields }, faults };
}
