import { columns } from '../database/columns.ts';
import type { Queryable } from '../database/database.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Table } from '../ledger/command.ts';
import type { Note } from './notes.ts';

/** What operators may know about a withdrawal and its customer may not. It can name people, so it is sealed. */

const place = (id: string): string => `withdrawal_notes.detail:${id}`;

export const noteTable: Table<Note> = {
  name: 'withdrawal_notes',
  isLog: true,
  write: (tx, notes) =>
    tx.query(
      `insert into withdrawal_notes (id, transfer_id, kind, detail, noted_by, at_ns)
       select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[])`,
      columns(
        notes.map((note) => ({ ...note, id: newId() })),
        {
          id: 'uuid',
          transferId: 'uuid',
          kind: 'text',
          detail: (note) => tx.vault().seal(note.detail, place(note.id)),
          notedBy: 'text',
          atNs: 'bigint',
        },
      ),
    ),
};

/** Oldest first, a bounded number. */
export async function listNotes(
  database: Queryable,
  transferId: string,
  max: number,
): Promise<(Note & { readonly atNs: Instant })[]> {
  const rows = await database.query<Note & { id: string }>(
    `select id, transfer_id as "transferId", kind, detail, noted_by as "notedBy", at_ns as "atNs" from withdrawal_notes
     where transfer_id = $1 order by at_ns, id limit $2`,
    [transferId, max],
  );
  return rows.map(({ id, ...note }) => ({ ...note, detail: database.vault().open(note.detail, place(id)) }));
}
