/** The libraries of Solana take 25 MB of memory, so they are loaded only when a rail of this kind is configured. */
export async function loadLibrary() {
  const [kit, system, token, memo] = await Promise.all([
    import('@solana/kit'),
    import('@solana-program/system'),
    import('@solana-program/token'),
    import('@solana-program/memo'),
  ]);
  return { kit, system, token, memo };
}

export type Library = Awaited<ReturnType<typeof loadLibrary>>;
