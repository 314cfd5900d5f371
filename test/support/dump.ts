import type { Database } from '../../src/database/database.ts';
import { unpackEvents } from '../../src/events/pack.ts';

/** Everything in the database as one text, as whoever has a copy of it can read it: each row of each table, events unpacked. */
export async function dumpText(database: Database): Promise<string> {
  const tables = await database.query<{ name: string }>(
    `select quote_ident(relname) as name from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`,
  );
  const parts: string[] = [];
  for (const { name } of tables) {
    const rows = await database.query<{ text: string }>(`select t::text as text from ${name} t`);
    parts.push(name, ...rows.map(({ text }) => text));
  }
  const groups = await database.query<{ events: Buffer }>('select events from event_groups');
  for (const { events } of groups)
    parts.push(...Array.from(unpackEvents(events), (event) => `${event.type} ${event.resource}`));
  return parts.join('\n');
}
