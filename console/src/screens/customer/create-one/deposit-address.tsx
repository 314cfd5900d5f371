import type { Input } from '@ferry/client';
import { ferry } from '~/app/api.ts';
import { useAssets, useProfileName } from '~/customer/data.ts';
import { words } from '~/lib/words.ts';
import { Facts, Id } from '~/ui/index.ts';
import { ReceiveForm } from './receive-form.tsx';

type Network = Input<'createDepositAddress'>['crypto_network'];

export default function DepositAddress() {
  const nameOf = useProfileName();
  const crypto = (useAssets() ?? []).filter(({ kind }) => kind !== 'FIAT');
  return (
    <ReceiveForm
      receiving={{
        field: 'crypto_network',
        label: 'Network',
        networks: [...new Set(crypto.flatMap(({ rails }) => rails.map(({ rail }) => rail)))],
        action: 'Create the address',
        done: 'Created a deposit address.',
        create: ({ network, ...request }) =>
          ferry.createDepositAddress({ ...request, crypto_network: network as Network }),
        title: 'Send to this address',
        show: (made) => (
          <Facts
            facts={[
              { name: 'Address', value: <Id id={made.address} of="address" whole /> },
              { name: 'Network', value: words(made.crypto_network) },
              { name: 'Credits', value: nameOf(made.profile_id) },
            ]}
          />
        ),
        notes: (
          <>
            <li>The address accepts every asset of its network, and stays valid.</li>
            <li>A deposit is credited after the confirmations of its network.</li>
          </>
        ),
      }}
    />
  );
}
