import { Menu as Base } from '@base-ui/react/menu';
import type { ReactElement } from 'react';
import { Icon, type IconName } from './icon.tsx';

export type MenuItem = {
  readonly label: string;
  readonly icon?: IconName;
  readonly isOn?: boolean;
  readonly onSelect: () => void;
};

export function Menu({
  trigger,
  items,
  side = 'bottom',
}: {
  /** A button. */
  readonly trigger: ReactElement;
  readonly items: readonly MenuItem[];
  readonly side?: 'bottom' | 'top';
}) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner side={side} align="start" sideOffset={4} className="z-50">
          <Base.Popup className="min-w-48 rounded-lg border border-line bg-panel p-1 text-sm shadow-pop">
            {items.map(({ label, icon, isOn, onSelect }) => (
              <Base.Item
                key={label}
                onClick={onSelect}
                className="flex h-8 cursor-pointer items-center gap-2 rounded-md px-2 outline-none data-highlighted:bg-hover"
              >
                {icon !== undefined && <Icon name={icon} className="size-4 text-quiet" />}
                <span className="flex-1">{label}</span>
                {isOn === true && <Icon name="check" className="size-4 text-accent" />}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
