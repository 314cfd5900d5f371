/** `CRYPTO_WITHDRAWAL` reads as "Crypto withdrawal". */
export function words(constant: string): string {
  const text = constant.replaceAll('_', ' ').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** "1 transfer", "3 transfers" */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
