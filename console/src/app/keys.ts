import { useEffect, useRef } from 'react';
import { cell } from '~/lib/emitter.ts';

/** `j`, `?`, `g t` (one after the other), `mod+k` (Ctrl or Cmd), each with what it does and the work. */
export type Keys = Readonly<Record<string, readonly [about: string, work: () => void]>>;

/** All that count now, the last screen's first: `?` shows them. */
export const activeKeys = cell<readonly Keys[]>([]);

const SEQUENCE_MS = 1_200;
let prefix: { readonly key: string; readonly atMs: number } | undefined;

/** In a field, letters are text; an open menu or dialog has its own keys. */
function isTyping({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    target.closest('[role="menu"]') !== null
  );
}

const isInDialog = (): boolean => document.querySelector('[role="dialog"], [role="alertdialog"]') !== null;

function nameOf(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return event.ctrlKey || event.metaKey ? `mod+${key}` : key;
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey) return;
  const name = nameOf(event);
  const isModified = name.startsWith('mod+');
  if (!isModified && (isTyping(event) || isInDialog())) return;
  // Enter on a link or a button does what that says.
  if (
    name === 'Enter' &&
    event.target instanceof HTMLElement &&
    event.target.closest('a, button, [role="tab"]')
  )
    return;
  const isSequence = prefix !== undefined && event.timeStamp - prefix.atMs < SEQUENCE_MS;
  const wanted = isSequence ? `${prefix!.key} ${name}` : name;
  prefix = undefined;
  for (const keys of activeKeys.get()) {
    const found = keys[wanted];
    if (found === undefined) continue;
    event.preventDefault();
    found[1]();
    return;
  }
  if (activeKeys.get().some((keys) => Object.keys(keys).some((one) => one.startsWith(`${name} `))))
    prefix = { key: name, atMs: event.timeStamp };
}

export function listenToKeys(): () => void {
  document.addEventListener('keydown', onKeyDown);
  return () => document.removeEventListener('keydown', onKeyDown);
}

/** Keys that count while the component is there. Those of the screen win over those of the shell. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  const names = Object.keys(keys).join('\n');
  useEffect(() => {
    const own = Object.fromEntries(
      names
        .split('\n')
        .map((name) => [name, [latest.current[name]![0], () => latest.current[name]?.[1]()] as const]),
    );
    activeKeys.set([own, ...activeKeys.get()]);
    return () => activeKeys.set(activeKeys.get().filter((one) => one !== own));
  }, [names]);
}
