import { useCell } from '~/lib/emitter.ts';
import { Icon } from '~/ui/icon.tsx';
import { Menu } from '~/ui/menu.tsx';
import { Kbd } from '~/ui/page.tsx';
import { openAccount, signOut } from './account.ts';
import { BASE, IS_SANDBOX } from './base.ts';
import { MOD } from './keys-help.tsx';
import { Link } from './link.tsx';
import { navigationFor } from './registry.ts';
import { isOperator, useMe } from './session.ts';
import { setTheme, type Theme, theme } from './theme.ts';

const THEMES = [
  ['system', 'Colours of the system', 'screen'],
  ['light', 'Light', 'sun'],
  ['dark', 'Dark', 'moon'],
] as const satisfies readonly (readonly [Theme, string, string])[];

function Person() {
  const me = useMe();
  const chosen = useCell(theme);
  const name = me.name ?? 'API client';
  return (
    <Menu
      side="top"
      trigger={
        <button
          type="button"
          className="flex h-11 w-full items-center gap-2.5 rounded-lg px-2 text-left hover:bg-hover"
        >
          <span
            className="grid size-7 shrink-0 place-items-center rounded-full bg-accent-soft text-xs font-semibold text-accent"
            aria-hidden="true"
          >
            {name.charAt(0)}
          </span>
          <span className="min-w-0 flex-1">
            <span className="block truncate text-sm font-medium">{name}</span>
            <span className="block truncate text-xs text-quiet">
              {isOperator(me) ? 'operator · ' : ''}
              {(me.roles ?? ['client']).join(', ').toLowerCase()}
            </span>
          </span>
          <Icon name="down" className="size-3.5 rotate-180 text-quiet" />
        </button>
      }
      items={[
        ...THEMES.map(([value, label, icon]) => ({
          label,
          icon,
          isOn: value === chosen,
          onSelect: () => setTheme(value),
        })),
        { label: 'Passkeys and sessions', icon: 'key', onSelect: openAccount },
        { label: 'API reference', icon: 'external', onSelect: () => location.assign(`${BASE}/docs/`) },
        { label: 'Sign out', icon: 'out', onSelect: () => void signOut() },
      ]}
    />
  );
}

/** All other paths are below these, so they are highlighted on their own screen only. */
const START_PATHS = new Set(['/', '/operator']);

const ENTRY =
  'group flex h-7 items-center gap-2.5 rounded-md px-2 text-sm text-quiet hover:bg-hover hover:text-ink data-active:bg-accent-soft data-active:font-medium data-active:text-accent';

/** Where one can go, by role. On narrow windows it is in a drawer. */
export function Sidebar({
  onSearch,
  onLeave,
  looksAt,
}: {
  readonly onSearch: () => void;
  /** When a link was chosen. */
  readonly onLeave?: () => void;
  readonly looksAt: string | undefined;
}) {
  const me = useMe();
  return (
    <div className="flex h-full flex-col gap-1 p-3">
      <div className="flex items-center gap-2 px-2 pb-2">
        <span className="text-base font-bold tracking-tight text-accent">Ferry</span>
        {IS_SANDBOX && (
          <span className="rounded bg-warn-soft px-1.5 text-2xs font-semibold text-warn uppercase">
            Sandbox
          </span>
        )}
      </div>
      <button
        type="button"
        onClick={onSearch}
        className="mb-1 flex h-8 items-center gap-2 rounded-md border border-line bg-page px-2 text-sm text-quiet hover:border-line-strong hover:text-ink"
      >
        <Icon name="search" />
        <span className="flex-1 text-left">Search</span>
        <Kbd>{MOD} K</Kbd>
      </button>
      <nav aria-label="Main" className="-mx-1 min-h-0 flex-1 overflow-y-auto px-1">
        {navigationFor(me, looksAt !== undefined).map(({ name, screens }) => (
          <div key={name} className="pt-2">
            <h2 className="eyebrow px-2 pb-1">{name}</h2>
            <ul className="flex flex-col gap-px">
              {screens.map(({ id, path, title, nav }) => (
                <li key={id}>
                  <Link
                    to={path}
                    isNav={!START_PATHS.has(path)}
                    className={ENTRY}
                    {...(onLeave && { onClick: onLeave })}
                  >
                    <Icon name={nav!.icon} />
                    {title}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <Person />
    </div>
  );
}
