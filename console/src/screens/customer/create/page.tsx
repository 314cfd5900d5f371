import { Link } from '~/app/link.tsx';
import { may, useMe } from '~/app/session.ts';
import { OPERATIONS } from '~/customer/operations.ts';
import { EmptyState, Icon, PageBody, PageHeader } from '~/ui/index.ts';

export default function New() {
  const me = useMe();
  const allowed = OPERATIONS.filter(({ scope }) => may(me, scope));
  const groups = Map.groupBy(allowed, ({ group }) => group);
  return (
    <>
      <PageHeader title="New" />
      <PageBody>
        {allowed.length === 0 && (
          <EmptyState icon="shield" title="Your role does not create operations">
            People with the role maker request transfers and withdrawals. Ask an administrator for the role.
          </EmptyState>
        )}
        {[...groups].map(([name, operations]) => (
          <section key={name} aria-labelledby={`group-${name}`}>
            <h2 id={`group-${name}`} className="eyebrow mb-2">
              {name}
            </h2>
            <ul className="grid grid-cols-1 gap-3 sm:grid-cols-2 xl:grid-cols-3">
              {operations.map(({ id, title, about, icon }) => (
                <li key={id}>
                  <Link
                    to={`/new/${id}`}
                    className="flex h-full gap-3 rounded-xl border border-line bg-panel p-4 hover:border-line-strong hover:bg-hover"
                  >
                    <span className="grid size-8 shrink-0 place-items-center rounded-lg bg-accent-soft text-accent">
                      <Icon name={icon} />
                    </span>
                    <span className="min-w-0">
                      <span className="block text-sm font-medium">{title}</span>
                      <span className="block text-sm text-quiet">{about}</span>
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </PageBody>
    </>
  );
}
