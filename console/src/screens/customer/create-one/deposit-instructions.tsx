import type { Input } from '@ferry/client';
import { ferry } from '~/app/api.ts';
import { FIAT_KINDS } from '~/customer/data.ts';
import { InstructionFacts } from '~/customer/instructions.tsx';
import { ReceiveForm } from './receive-form.tsx';

type Network = Input<'createFiatDepositInstructions'>['fiat_network'];

export default function DepositInstructions() {
  return (
    <ReceiveForm
      receiving={{
        field: 'fiat_network',
        label: 'Bank or network',
        networks: FIAT_KINDS.map((one) => one.toUpperCase()),
        usual: 'WIRE',
        action: 'Create the instructions',
        done: 'Created deposit instructions.',
        create: ({ network, ...request }) =>
          ferry.createFiatDepositInstructions({ ...request, fiat_network: network as Network }),
        title: 'Pay to this account',
        show: (made) => <InstructionFacts made={made} />,
        notes: (
          <>
            <li>The memo identifies the profile: a payment without it waits for an operator.</li>
            <li>The instructions stay valid for any number of payments.</li>
          </>
        ),
      }}
    />
  );
}
