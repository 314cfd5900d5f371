const EVM = /^0x[0-9a-fA-F]{40}$/;
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]+$/;

/** Per network: what an address looks like, and whether a text can be one. The service checks the checksum. */
const SHAPES: Readonly<Record<string, readonly [hint: string, fits: (text: string) => boolean]>> = {
  BITCOIN: [
    'starts with bc1, 1 or 3',
    (text) =>
      /^bc1[a-z0-9]{11,71}$/i.test(text) || (/^[13]/.test(text) && BASE58.test(text) && text.length >= 26),
  ],
  LITECOIN: [
    'starts with ltc1, L or M',
    (text) =>
      /^ltc1[a-z0-9]{11,71}$/i.test(text) || (/^[LM]/.test(text) && BASE58.test(text) && text.length >= 26),
  ],
  BITCOIN_CASH: ['has the form bitcoincash:q…', (text) => /^(bitcoincash:)?[qp][a-z0-9]{41,}$/i.test(text)],
  SOLANA: [
    'has 32 to 44 letters and digits',
    (text) => BASE58.test(text) && text.length >= 32 && text.length <= 44,
  ],
};

export function addressFault(network: string, text: string): string | undefined {
  if (text.trim() === '') return 'Enter the address to send to.';
  const [hint, fits] = SHAPES[network] ?? ['has 0x and 40 digits', (one: string) => EVM.test(one)];
  return fits(text.trim()) ? undefined : `An address of this network ${hint}.`;
}
