/** How well an `Accept` header (RFC 9110) matches a media type: its quality, by the most specific range that matches. */
function qualityOf(accept: string, type: string): number {
  let best = { specificity: -1, quality: 0 };
  const [group] = type.split('/');
  for (const part of accept.split(',')) {
    const [range = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase());
    const specificity = [`*/*`, `${group}/*`, type].indexOf(range);
    const given = parameters.find((one) => one.startsWith('q='))?.slice(2);
    const quality = given === undefined ? 1 : /^[01](\.[0-9]{0,3})?$/.test(given) ? Number(given) : 0;
    if (specificity > best.specificity) best = { specificity, quality };
  }
  return best.quality;
}

/** The offered media type that the client likes best; the first one without a header; undefined if it accepts none. */
export function acceptable(accept: string | undefined, offered: readonly string[]): string | undefined {
  if (accept === undefined || accept.trim() === '') return offered[0];
  const [best] = offered
    .map((type) => ({ type, quality: qualityOf(accept, type) }))
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
  return best?.type;
}
