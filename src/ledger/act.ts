import type { Database, Transaction } from '../database/database.ts';
import type { Actor } from '../kernel/actor.ts';
import { newId } from '../kernel/id.ts';
import { type Command, type Table, type Write, write } from './command.ts';

/**
 * A change that moves no value, made by the functions of a store: of a client, or of a person. It records itself in the audit log,
 * and throws a problem if it is refused. It may run more than once, when a batch is retried.
 */
export type Act = (tx: Transaction, actor: Actor) => Promise<unknown>;

/** Acts run one after another, in the transaction of the command that writes them. */
const acts: Table<Act> = {
  name: 'acts',
  isLog: true,
  async write(tx, rows, _batchId, actors) {
    for (const [index, act] of rows.entries()) await act(tx, actors![index]!);
  },
};

export const actWrite = (act: Act): Write => write(acts, newId(), act);

/** The command that does it. If the act throws a problem, the command is refused with it. */
export function actCommand<Answer>(actor: Actor, act: Act, answer: Answer): Command<Answer> {
  const id = newId();
  return {
    actor,
    balances: [],
    decide: () => ({
      accepted: true,
      causeId: id,
      postings: [],
      writes: [actWrite(act)],
      answer,
    }),
  };
}

class Rehearsed extends Error {}

/** Throws the problem with which the act would be refused now. Changes nothing: its transaction is rolled back. */
export async function rehearse(database: Database, actor: Actor, act: Act): Promise<void> {
  await database
    .transaction(async (tx) => {
      await act(tx, actor);
      throw new Rehearsed();
    })
    .catch((error: unknown) => {
      if (!(error instanceof Rehearsed)) throw error;
    });
}
