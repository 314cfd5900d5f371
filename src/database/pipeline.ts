// A pipeline sends several statements at once and gets one combined answer. Statements after a failed one are skipped.
import pg from 'pg';
import { SLICES } from '../kernel/slices.ts';
import { LIMITS } from '../limits.ts';
import { DatabaseUnavailable, NoAnswer } from './failure.ts';
import type { CopyMessages, Parameter } from './queryable.ts';

/**
 * One statement of a pipeline. The driver by itself ends each statement with a Sync message, which makes the server
 * answer at once. A batch of the ledger has twelve statements in three pipelines: with a Sync for each of them, the round
 * trips would be most of the cost of a lone transfer.
 */
export type Part = {
  /** A text keeps its name as long as the process runs. A statement without a name is prepared each time. */
  readonly name: string | undefined;
  readonly text: string;
  readonly values: readonly WireValue[];
  readonly copy?: CopyMessages;
  resolve(rows: object[]): void;
  reject(error: unknown): void;
};

export type WireValue = string | Buffer | null;

type Parse = (text: string | null) => unknown;
type Shape = readonly { readonly name: string; readonly parse: Parse }[];

/** Methods of the driver's connection that its types do not declare. */
type Wire = pg.Connection & {
  parse(statement: { name: string; text: string }): void;
  bind(portal: { statement: string; values: readonly WireValue[] }): void;
  describe(what: { type: 'P'; name: string }): void;
  execute(portal: object): void;
  sync(): void;
  close(what: { type: 'S'; name: string }): void;
};

/** The prepared statements of one connection. */
export type Prepared = {
  /** The columns of each prepared statement; undefined until the server has described them. */
  readonly shapes: Map<string, Shape | undefined>;
  /** Statements of a pipeline that failed: the server may or may not have prepared them. */
  readonly uncertain: Set<string>;
  getTypeParser(oid: number): Parse;
};

type RowDescription = { readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[] };

const SKIPPED = 'not executed: a statement before it failed';

/** Throws if a value cannot be sent, before anything is sent. */
export function wireValue(value: Parameter): WireValue {
  if (value === null || typeof value === 'string' || Buffer.isBuffer(value)) return value;
  if (typeof value === 'object' || typeof value === 'symbol') throw new TypeError('not a parameter');
  return String(value);
}

/** A statement that was sent cannot be revoked, so its connection is closed. */
function giveUp(wire: Wire, silent: () => void): void {
  silent();
  wire.stream.destroy(new NoAnswer());
}

/**
 * A class, because the driver requires one. It has its own timer instead of the driver's `query_timeout`, which assigns a
 * function to a property: V8 allocates such functions in the old generation, where each keeps everything that it
 * references, 50 KB per pipeline, alive until the next full garbage collection.
 */
export class PipelineQuery extends pg.Query {
  readonly #parts: readonly Part[];
  readonly #prepared: Prepared;
  readonly #rows: object[][];
  readonly #faults: unknown[] = [];
  /** Statements that this pipeline prepares. */
  readonly #new: string[] = [];
  #done = 0;
  #shape: Shape | undefined;
  #isFinished = false;
  readonly #timeoutMs: number;
  readonly #silent: () => void;
  readonly #inSlices: boolean;
  #wire: Wire | undefined;
  #rowCount = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    parts: readonly Part[],
    prepared: Prepared,
    timeoutMs: number,
    translate: (error: unknown) => unknown,
    /** Called when no answer came in time. */
    silent: () => void,
    /** Whether many rows are parsed in slices. */
    inSlices: boolean,
  ) {
    super('pipeline', ((error: Error | null) => this.#finish(error && translate(error))) as never);
    this.#parts = parts;
    this.#prepared = prepared;
    this.#timeoutMs = timeoutMs;
    this.#silent = silent;
    this.#inSlices = inSlices;
    this.#rows = parts.map(() => []);
  }

  override submit = (connection: pg.Connection): void => {
    const wire = connection as Wire;
    this.#wire = wire;
    this.#timer = setTimeout(giveUp, this.#timeoutMs, wire, this.#silent);
    wire.stream.cork();
    try {
      for (const part of this.#parts) this.#send(wire, part);
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
  };

  #send(wire: Wire, { name, text, values, copy }: Part): void {
    const { shapes } = this.#prepared;
    if (name === undefined || !shapes.has(name)) {
      // Closing a statement that does not exist is not an error.
      if (name !== undefined && this.#prepared.uncertain.delete(name)) wire.close({ type: 'S', name });
      wire.parse({ name: name ?? '', text });
      if (name !== undefined) {
        shapes.set(name, undefined);
        this.#new.push(name);
      }
    }
    wire.bind({ statement: name ?? '', values });
    if (this.#isUnknown(name)) wire.describe({ type: 'P', name: '' });
    wire.execute({});
    if (copy !== undefined) wire.stream.write(copy.bytes, copy.sent);
  }

  #isUnknown(name: string | undefined): boolean {
    return name === undefined || this.#prepared.shapes.get(name) === undefined;
  }

  handleRowDescription({ fields }: RowDescription): void {
    this.#shape = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: this.#prepared.getTypeParser(dataTypeID),
    }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const { name } = this.#parts[this.#done]!;
    const shape = this.#shape ?? this.#prepared.shapes.get(name!)!;
    const row: Record<string, unknown> = {};
    try {
      for (let index = 0; index < shape.length; index += 1) {
        const field = fields[index] ?? null;
        const column = shape[index]!;
        row[column.name] = field === null ? null : column.parse(field);
      }
    } catch (error) {
      this.#faults[this.#done] ??= error;
    }
    this.#rows[this.#done]!.push(row);
    this.#rowCount += 1;
    if (this.#inSlices && this.#rowCount % LIMITS.sliceRows === 0) this.#pause();
  }

  /** Rows that have arrived are still parsed, about 64 KB of them. */
  #pause(): void {
    const { stream } = this.#wire!;
    if (stream.isPaused()) return;
    stream.pause();
    SLICES.request(() => stream.resume());
  }

  handleCommandComplete(): void {
    const { name } = this.#parts[this.#done]!;
    if (name !== undefined && this.#isUnknown(name)) this.#prepared.shapes.set(name, this.#shape ?? []);
    this.#shape = undefined;
    this.#done += 1;
  }

  /** The rows were sent together with the statement. */
  handleCopyInResponse(): void {}

  #finish(error: unknown): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    clearTimeout(this.#timer);
    // Outside a transaction, the pipeline commits at its end: a deferred constraint fails after all statements have succeeded.
    const isUndone = error !== null && this.#done === this.#parts.length;
    for (const [index, part] of this.#parts.entries()) {
      const isDone = index < this.#done && !isUndone;
      if (isDone && this.#faults[index] === undefined) part.resolve(this.#rows[index]!);
      else if (isDone) part.reject(this.#faults[index]);
      else if (isUndone || index === this.#done || error instanceof DatabaseUnavailable) part.reject(error);
      // Later, so that a `Promise.all` over these statements rejects with the error of the failed one.
      else setImmediate(() => part.reject(new Error(SKIPPED)));
    }
    if (error === null) return;
    for (const name of this.#new) {
      if (this.#prepared.shapes.get(name) !== undefined) continue;
      this.#prepared.shapes.delete(name);
      this.#prepared.uncertain.add(name);
    }
  }
}
