import type { ReactNode } from 'react';

/** A table that may be wider than a phone. What scrolls must be reachable with the keyboard. */
export const ScrollX = ({ label, children }: { readonly label: string; readonly children: ReactNode }) => (
  <section tabIndex={0} aria-label={label} className="overflow-x-auto">
    {children}
  </section>
);
