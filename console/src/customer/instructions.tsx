import type { components } from '@ferry/client';
import { words } from '~/lib/words.ts';
import { type Fact, Facts, Id } from '~/ui/index.ts';

type Instructions = components['schemas']['FiatDepositInstructions'];

/** Every text of nested details, with its place in words. */
function factsIn(value: object, before = ''): Fact[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    const label = before === '' ? words(name) : `${before}: ${words(name).toLowerCase()}`;
    return typeof inner === 'object' && inner !== null
      ? factsIn(inner, label)
      : [{ name: label, value: String(inner) }];
  });
}

/** Where to pay to, and the memo. */
export function InstructionFacts({ made }: { readonly made: Instructions }) {
  const { fiat_network: network, fiat_network_instructions: instructions, memo_id: memo } = made;
  return (
    <Facts
      facts={[
        { name: 'Memo', value: <Id id={memo} of="memo" whole /> },
        { name: 'Network', value: words(network) },
        ...Object.values(instructions).flatMap((details) => factsIn(details)),
      ]}
    />
  );
}
