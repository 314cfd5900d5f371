import { useCell } from '~/lib/emitter.ts';
import { Dialog } from '~/ui/dialog.tsx';
import { Kbd } from '~/ui/page.tsx';
import { activeKeys } from './keys.ts';

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent);
export const MOD = IS_MAC ? '⌘' : 'Ctrl';

const partsOf = (name: string): string[] => name.split(/[ +]/).map((part) => (part === 'mod' ? MOD : part));

/** All keys that count on this screen. */
export function KeysHelp({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const keys = useCell(activeKeys);
  const shown = new Map(keys.flatMap((one) => Object.entries(one)).map(([name, [about]]) => [name, about]));
  return (
    <Dialog open={open} onClose={onClose} title="Keys">
      <dl className="grid grid-cols-1 gap-x-8 gap-y-1.5 text-sm sm:grid-cols-2">
        {[...shown].map(([name, about]) => (
          <div key={name} className="flex items-center justify-between gap-3">
            <dt>{about}</dt>
            <dd className="flex gap-1">
              {partsOf(name).map((part) => (
                <Kbd key={part}>{part}</Kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
