import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { useMay } from '~/app/session.ts';
import { words } from '~/lib/words.ts';
import { ActorName, Loading, ProblemNotice, Sentence, Timeline, toneOf } from '~/ui/index.ts';

type State = { readonly status?: string; readonly secondary_status?: { readonly detail: string } };

/** Everything that has changed one resource, from the audit log. */
export function ChangeLog({
  resourceId,
  updated,
}: {
  readonly resourceId: string;
  readonly updated?: string;
}) {
  const isAllowed = useMay('control:read_audit_log');
  const log = useQuery({
    queryKey: ['audit-log', resourceId, updated],
    queryFn: async () => (await ferry.listAuditLog({ resource_ids: [resourceId], limit: 100 })).items,
    enabled: isAllowed,
  });
  if (!isAllowed) return <p className="text-sm text-quiet">Your role does not read the audit log.</p>;
  if (log.error !== null) return <ProblemNotice error={log.error} retry={() => void log.refetch()} />;
  if (log.data === undefined) return <Loading />;
  const oldestFirst = [...log.data].sort((left, right) => (left.created_at < right.created_at ? -1 : 1));
  const items = oldestFirst.map((entry) => {
    const { status = '', secondary_status: secondary } = (entry.after ?? {}) as State;
    return {
      id: entry.id,
      at: entry.created_at,
      title: words(entry.action.replace(/^.*\./, '')),
      tone: toneOf(status),
      by: (
        <>
          by <ActorName actor={entry.actor} />
        </>
      ),
      children: <Sentence text={entry.refusal?.detail ?? secondary?.detail} />,
    };
  });
  return items.length === 0 ? (
    <p className="text-sm text-quiet">No change is recorded.</p>
  ) : (
    <Timeline items={items} />
  );
}
