const metaOf = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';

/** The path of the service's public URL, such as `/ferry`; empty if it has none. */
export const BASE = metaOf('ferry-base');
export const IS_SANDBOX = metaOf('ferry-mode') !== 'production';
export const CONSOLE = `${BASE}/console`;

/** Where a person signs in, and comes back to the same place. */
export function signInAddress(): string {
  const here = location.pathname + location.search;
  return `${BASE}/signin?next=${encodeURIComponent(here)}`;
}
