import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { useMay } from '~/app/session.ts';
import type { Profile } from '~/customer/data.ts';
import { ratioOf } from '~/lib/money.ts';
import { words } from '~/lib/words.ts';
import { EmptyState, Loading, Money, Panel, ProblemNotice } from '~/ui/index.ts';

const WINDOWS = { HOUR: 'last hour', DAY: 'last 24 hours', WEEK: 'last 7 days' } as const;

/** What policies leave for withdrawals of a profile and asset. */
export function Limits({ profile, asset }: { readonly profile: Profile; readonly asset: string }) {
  const isAllowed = useMay('policy:read_policy');
  const limits = useQuery({
    queryKey: ['limits', profile.id, asset],
    queryFn: async () => (await ferry.listLimitUtilizations({ profile_id: profile.id, asset })).items,
    enabled: isAllowed,
  });
  return (
    <Panel title={`Limits of ${profile.nickname} in ${asset}`}>
      {limits.error !== null && <ProblemNotice error={limits.error} />}
      {limits.data === undefined && limits.error === null && (isAllowed ? <Loading /> : 'Not permitted.')}
      {limits.data?.length === 0 && (
        <EmptyState icon="limits" title="No limit applies">
          A policy with a velocity rule limits what is withdrawn in an hour, a day or a week.
        </EmptyState>
      )}
      <ul className="flex flex-col gap-4">
        {limits.data?.map((one) => {
          const part = Math.min(1, ratioOf(one.used, one.max));
          return (
            <li key={`${one.policy}/${one.rule}`} className="text-sm">
              <p className="flex flex-wrap justify-between gap-x-3">
                <span className="font-medium">{one.rule}</span>
                <span className="text-quiet">
                  <Money amount={one.available} asset={asset} /> left
                </span>
              </p>
              <div
                role="meter"
                aria-label={`${one.rule}: used`}
                aria-valuemin={0}
                aria-valuemax={100}
                aria-valuenow={Math.round(part * 100)}
                className="my-1.5 h-1.5 overflow-hidden rounded-full bg-raised"
              >
                <div
                  className={`h-full rounded-full ${part > 0.9 ? 'bg-bad' : part > 0.7 ? 'bg-warn' : 'bg-accent'}`}
                  style={{ width: `${part * 100}%` }}
                />
              </div>
              <p className="text-xs text-quiet">
                <Money amount={one.used} /> of <Money amount={one.max} /> in the {WINDOWS[one.window]}, per{' '}
                {words(one.per).toLowerCase()}
                {one.rails !== undefined && ` on ${one.rails.map(words).join(', ')}`} · {one.policy}
              </p>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}
