import { cell } from '~/lib/emitter.ts';
import { readStored, store } from '~/lib/storage.ts';

export type Theme = 'system' | 'light' | 'dark';
export const theme = cell<Theme>(readStored('theme', 'system'));

function apply(): void {
  const chosen = theme.get();
  if (chosen === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

export function setTheme(next: Theme): void {
  theme.set(next);
  store('theme', next);
  apply();
}

apply();
