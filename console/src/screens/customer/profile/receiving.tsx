import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { useMay } from '~/app/session.ts';
import { InstructionFacts } from '~/customer/instructions.tsx';
import { words } from '~/lib/words.ts';
import { EmptyState, Id, LinkButton, Loading, Panel, ProblemNotice } from '~/ui/index.ts';

const SHOWN = 50;

/** Where others pay to, so that this profile is credited. */
export function Receiving({ profileId }: { readonly profileId: string }) {
  const [mayAddress, mayInstruct] = [
    useMay('transfer:write_deposit_address'),
    useMay('transfer:write_fiat_deposit_instructions'),
  ];
  const receiving = useQuery({
    queryKey: ['receiving', profileId],
    queryFn: async () => {
      const [addresses, instructions] = await Promise.all([
        ferry.listDepositAddresses({ profile_ids: [profileId], limit: SHOWN }),
        ferry.listFiatDepositInstructions({ profile_ids: [profileId], limit: SHOWN }),
      ]);
      return { addresses: addresses.items, instructions: instructions.items };
    },
  });
  const { addresses = [], instructions = [] } = receiving.data ?? {};
  return (
    <Panel
      title="Receiving"
      action={
        <>
          {mayAddress && (
            <LinkButton to={`/new/deposit-address?profile=${profileId}`} variant="ghost" icon="plus">
              Address
            </LinkButton>
          )}
          {mayInstruct && (
            <LinkButton to={`/new/deposit-instructions?profile=${profileId}`} variant="ghost" icon="plus">
              Instructions
            </LinkButton>
          )}
        </>
      }
    >
      {receiving.error !== null && <ProblemNotice error={receiving.error} />}
      {receiving.data === undefined && receiving.error === null && <Loading />}
      {receiving.data !== undefined && addresses.length + instructions.length === 0 && (
        <EmptyState icon="inbox" title="Nowhere to pay to yet">
          A deposit address receives crypto assets, and deposit instructions receive bank payments.
        </EmptyState>
      )}
      <ul className="flex flex-col gap-3">
        {addresses.map(({ id, crypto_network: network, address }) => (
          <li key={id} className="text-sm">
            <p className="text-xs text-quiet">{words(network)}</p>
            <Id id={address} of="address" whole />
          </li>
        ))}
        {instructions.map((one) => (
          <li key={one.id} className="rounded-lg border border-line p-3">
            <InstructionFacts made={one} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
