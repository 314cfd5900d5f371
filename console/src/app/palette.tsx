import { Dialog } from '@base-ui/react/dialog';
import { useId, useMemo, useState } from 'react';
import { cx } from '~/lib/cx.ts';
import { Icon } from '~/ui/icon.tsx';
import { openAccount, signOut } from './account.ts';
import { lookedAt } from './api.ts';
import { useGo } from './navigation.ts';
import { isFor, SCREENS } from './registry.ts';
import type { Command } from './screen.ts';
import { type Me, useMe } from './session.ts';
import { setTheme } from './theme.ts';

const COMMANDS: readonly Command[] = [
  { id: 'theme-light', label: 'Use light colours', icon: 'sun', run: () => setTheme('light') },
  { id: 'theme-dark', label: 'Use dark colours', icon: 'moon', run: () => setTheme('dark') },
  {
    id: 'theme-system',
    label: 'Use the colours of the system',
    icon: 'screen',
    run: () => setTheme('system'),
  },
  { id: 'account', label: 'Your passkeys and sessions', icon: 'key', run: openAccount },
  { id: 'out', label: 'Sign out', icon: 'out', run: () => void signOut() },
];

const matches = ({ label }: Command, text: string): boolean =>
  text
    .toLowerCase()
    .split(/\s+/)
    .every((part) => label.toLowerCase().includes(part));

/** What can be opened or done now: what screens find in the text first, then everything whose name contains it. */
function commandsFor(me: Me, text: string): Command[] {
  const screens = SCREENS.filter((one) => isFor(me, one, lookedAt() !== undefined));
  const opened = screens
    .filter((one) => one.nav !== undefined)
    .sort((left, right) => left.nav!.order - right.nav!.order)
    .map(({ id, title, path, nav }) => ({
      id,
      label: title,
      icon: nav!.icon,
      ...(nav!.key !== undefined && { hint: `g ${nav!.key}` }),
      run: path,
    }));
  const own = screens.flatMap((one) => one.commands?.({ me, text: text.trim() }) ?? []);
  const found = own.filter((one) => one.id.startsWith('find:'));
  const named = [...opened, ...own.filter((one) => !one.id.startsWith('find:')), ...COMMANDS];
  return [...found, ...named.filter((one) => text.trim() === '' || matches(one, text.trim()))];
}

function Choices({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const me = useMe();
  const go = useGo();
  const listId = useId();
  const commands = useMemo(() => commandsFor(me, text), [me, text]);
  const chosen = commands[Math.min(at, commands.length - 1)];
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    if (typeof command.run === 'string') go(command.run);
    else command.run();
  };
  const step = (by: number): void =>
    setAt((Math.min(at, commands.length - 1) + by + commands.length) % Math.max(1, commands.length));
  const onKey = (key: string): boolean => {
    if (key === 'ArrowDown') step(1);
    else if (key === 'ArrowUp') step(-1);
    else if (key === 'Enter') run(chosen);
    else return false;
    return true;
  };
  return (
    <>
      <div className="flex items-center gap-2 border-b border-line px-3">
        <Icon name="search" className="size-4 text-quiet" />
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls={listId}
          aria-label="Search views and actions, or paste an id"
          aria-activedescendant={chosen && `${listId}-${chosen.id}`}
          placeholder="Search views and actions, or paste an id…"
          className="h-11 min-w-0 flex-1 bg-transparent text-sm outline-none placeholder:text-quiet"
          value={text}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            if (onKey(event.key)) event.preventDefault();
          }}
        />
      </div>
      <div
        role="listbox"
        id={listId}
        aria-label="Views and actions"
        className="max-h-[50vh] overflow-y-auto p-1"
      >
        {commands.map((command) => (
          // The input has the focus, and its keys move through the options.
          <div
            key={command.id}
            id={`${listId}-${command.id}`}
            role="option"
            tabIndex={-1}
            aria-selected={command === chosen}
            onClick={() => run(command)}
            onKeyDown={() => undefined}
            ref={command === chosen ? (element) => element?.scrollIntoView({ block: 'nearest' }) : undefined}
            className={cx(
              'flex h-9 items-center gap-2.5 rounded-md px-2.5 text-sm',
              command === chosen && 'bg-accent-soft',
            )}
          >
            <Icon name={command.icon ?? 'right'} className="size-4 text-quiet" />
            <span className="min-w-0 flex-1 truncate">{command.label}</span>
            {command.hint !== undefined && <span className="text-xs text-quiet">{command.hint}</span>}
          </div>
        ))}
      </div>
      {commands.length === 0 && <p className="p-4 text-center text-sm text-quiet">Nothing has this name.</p>}
    </>
  );
}

export function Palette({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/35" />
        <Dialog.Popup
          aria-label="Command palette"
          className="fixed inset-x-3 top-[12vh] z-40 mx-auto max-w-xl overflow-hidden rounded-xl border border-line bg-panel shadow-pop"
        >
          <Choices onClose={onClose} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
