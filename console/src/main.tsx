import './styles.css';
import './app/theme.ts';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ferry, queryClient } from './app/api.ts';
import { listenToKeys } from './app/keys.ts';
import { SCREENS } from './app/registry.ts';
import { router } from './app/router.tsx';

listenToKeys();

// For `npm run console:screens`, which opens every screen of a person.
Object.assign(globalThis, {
  ferryScreens: (audiences: readonly string[]) =>
    Promise.all(
      SCREENS.filter(({ audience }) => audiences.includes(audience)).map(async ({ id, path, sample }) => ({
        id,
        path: path.includes('$') ? await sample?.(ferry).catch(() => undefined) : path,
      })),
    ),
});

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
