import { Problem } from '../kernel/problem.ts';
import type { Command, Outcome } from './command.ts';
import type { WritePath } from './write-path.ts';

/** How the record of an earlier request is found and shown. */
export type Creation<Row, Body> = {
  readonly command: Command<Row>;
  load(resourceId: string): Promise<Row | undefined>;
  /** As users see it, as an object or as JSON text. */
  present(row: Row): Body;
};

/**
 * Creates a resource once, even if equal requests are concurrent. The first request creates it, an equal one gets the
 * current record, and a different one with the same ref_id gets a 409 that names the fields that differ.
 */
export async function createOnce<Row, Body>(
  writePath: Pick<WritePath, 'submit'>,
  creation: Creation<Row, Body>,
): Promise<Created<Body>> {
  return createdBy(await writePath.submit(creation.command), creation);
}

export type Created<Body> = { readonly body: Body; readonly replayed?: boolean };

/** What is answered after the command has ended so. */
export async function createdBy<Row, Body>(
  outcome: Outcome<Row>,
  { command, load, present }: Creation<Row, Body>,
): Promise<Created<Body>> {
  if (!outcome.replayed) return { body: present(outcome.answer) };
  const row = await load(outcome.resourceId);
  if (row === undefined) throw new Error(`the record ${outcome.resourceId} of a replayed request is missing`);
  const { differs } = outcome;
  if (differs.length === 0) return { body: present(row), replayed: true };
  throw usedOtherwise(command.key!.refId, present(row), differs);
}

/** The ref_id was used for a different request. `shown` is the existing record as users see it. */
export function usedOtherwise(refId: string, shown: unknown, differs: readonly string[]): Problem {
  const existing: unknown = typeof shown === 'string' ? JSON.parse(shown) : shown;
  const detail = `The ref_id "${refId}" was used for a different request; they differ in ${differs.join(', ')}.`;
  return new Problem('already-exists', detail, { existing, differs });
}
