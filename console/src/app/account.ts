import { BASE, signInAddress } from './base.ts';

/** The page of the own passkeys and sessions. */
export const openAccount = (): void => location.assign(`${BASE}/signin/me`);
export const signIn = (): void => location.assign(signInAddress());

export async function signOut(): Promise<void> {
  await fetch(`${BASE}/signin/out`, { method: 'POST', credentials: 'same-origin' });
  location.assign(`${BASE}/signin`);
}
