/** Values that differ every time and do not affect the shape of an answer. */
const CHANGING = new Set(
  `secret client_secret webhook-signature webhook-timestamp date duration_ms next_page_cursor address memo_id reference
   crypto_tx_hash crypto_tx_index access_token x kid actor maker by digest client_id removed_by
   enrolment_url version used available from`.split(/\s+/),
);

/** `addresses` of the test by those that the examples have instead. */
export function comparableAnswer(value: any, addresses: Readonly<Record<string, string>>, key = ''): any {
  const comparable = (one: any, name = ''): any => comparableAnswer(one, addresses, name);
  if (CHANGING.has(key)) return `<${key}>`;
  if (Array.isArray(value)) return value.map((one) => comparable(one));
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, comparable(one, name)]));
  if (typeof value !== 'string') return value;
  const renamed = Object.entries(addresses).reduce((text, [from, to]) => text.replaceAll(from, to), value);
  return (
    renamed
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g, '<id>')
      .replaceAll(/ferry_[0-9a-f]{24}/g, '<id>')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replaceAll(/^[0-9a-f-]{36}@/g, 'ada@')
      .replaceAll(/^trade-7781-\d+$/g, 'trade-7781')
      .replaceAll(/^goodwill-\d+$/g, 'goodwill-0001')
      // Keeps the fiat account of a test PENDING.
      .replaceAll('Atlantis', 'US')
  );
}

/** The places in the answer with ids of the request: the example must have its own ids in the same places. */
export function places(sent: any, body: any): string[] {
  const fields = Object.entries<unknown>(sent ?? {}).filter(([, value]) => typeof value === 'string');
  return Object.entries<unknown>(body ?? {})
    .flatMap(([name, value]) =>
      fields.filter(([, one]) => one === value).map(([field]) => `${field} is ${name}`),
    )
    .sort();
}
