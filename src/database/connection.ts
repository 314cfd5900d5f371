import pg from 'pg';
import type { Vault } from '../kernel/vault.ts';
import { LIMITS } from '../limits.ts';
import { DatabaseUnavailable } from './failure.ts';
import { type Part, PipelineQuery, type Prepared, wireValue } from './pipeline.ts';
import { clusterOf, lost, types } from './pool.ts';
import type { CopyMessages, Parameter, Statement, Transaction } from './queryable.ts';

/** One connection, for work that needs several statements on the same one. */
export type Connection = Transaction & {
  /** Identifies the session: the same object for everyone who uses this connection in turn. */
  readonly session: object;
  /** False once the connection is known to be closed, or to have committed without its synchronous standby. */
  isOpen(): boolean;
  /** Several statements in one text, without parameters: migrations. */
  script(text: string): Promise<void>;
  /**
   * Fails if the server rolled back instead, as it silently does after a failed statement, or if the synchronous standby
   * has not confirmed the commit.
   */
  commit(): Promise<void>;
  /** Returns it to the pool. A connection that is broken or inside a transaction is closed instead. */
  release(): void;
  /** Closes it, which ends all locks and settings of its session; inside a transaction at once, whatever is running. */
  discard(): void;
};

/** The pool that a connection comes from. */
export type Lender = {
  /**
   * Takes the connection back, to keep it, to close it when its statement has ended, or to destroy it at once. Only the
   * first call for each connection has an effect.
   */
  takeBack(client: pg.PoolClient, how: 'keep' | 'close' | 'destroy'): void;
  /** False for a connection that may have died unnoticed. */
  isTrusted(client: pg.PoolClient): boolean;
  /** Called when a connection did not answer in time. */
  silent(): void;
  /** Whether many rows are parsed in slices, between which other requests make progress. */
  readonly inSlices: boolean;
  vault(): Vault;
};

/** A statement text keeps its name for the life of the process. Texts are few, because values are parameters. */
const STATEMENT_NAMES_MAX = 1_000;
const statementNames = new Map<string, string>();

/** Undefined beyond the bound: such a statement is prepared each time. */
function statementName(text: string): string | undefined {
  let name = statementNames.get(text);
  if (name === undefined && statementNames.size < STATEMENT_NAMES_MAX) {
    name = `ferry_${statementNames.size}`;
    statementNames.set(text, name);
  }
  return name;
}

/** Codes of errors that end the connection. The severity says so as well, but in the server's language. */
const ENDS_CONNECTION = /^(08|28|3D|53300|57P0|25P0[34])/;

/** What a server of a cluster said to a COPY: the coordinator passes on the text, but not the code. */
const CODES_OF_COPY: readonly (readonly [RegExp, string])[] = [
  [/^duplicate key value violates unique constraint/, '23505'],
  [/^canceling statement due to lock timeout/, '55P03'],
  [/^canceling statement/, '57014'],
  [/^deadlock detected/, '40P01'],
  [/^could not serialize access|changed since it was read$/, '40001'],
  [/^(terminating connection|the database system is)/, '57P01'],
];

function withCode(error: pg.DatabaseError): pg.DatabaseError {
  if (error.routine !== 'ReportCopyError') return error;
  const [, code] = CODES_OF_COPY.find(([text]) => text.test(error.message)) ?? [];
  return code === undefined ? error : Object.assign(error, { code });
}

/**
 * Passes on errors of the statement itself, and the errors that JavaScript throws for a value that cannot be encoded or
 * decoded. Anything else means that the connection is lost.
 */
export function translate(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  if (error instanceof pg.DatabaseError && !ENDS_CONNECTION.test(error.code ?? '08')) return withCode(error);
  const isValueError =
    error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError;
  return isValueError ? error : new DatabaseUnavailable(error);
}

type WithTypes = pg.PoolClient & {
  getTypeParser(oid: number, format: 'text'): (text: string | null) => unknown;
};

/** The statements that each connection has prepared. */
const preparedBy = new WeakMap<pg.PoolClient, Prepared>();

function preparedOf(client: pg.PoolClient): Prepared {
  let prepared = preparedBy.get(client);
  if (prepared === undefined) {
    const { getTypeParser } = types as unknown as WithTypes;
    prepared = {
      shapes: new Map(),
      uncertain: new Set(),
      getTypeParser: (oid) => getTypeParser(oid, 'text'),
    };
    preparedBy.set(client, prepared);
  }
  return prepared;
}

function formFor(client: pg.PoolClient, statement: Statement): string {
  if (typeof statement === 'string') return statement;
  const cluster = clusterOf(client);
  if (cluster === undefined) return statement.plain;
  const { distributed } = statement;
  return typeof distributed === 'string' ? distributed : distributed(cluster.views);
}

/** Statements that are issued in the same turn of the event loop are sent as one pipeline. */
function queryableOn(client: pg.PoolClient, timeoutMs: number, lender: Lender): Transaction {
  const { silent, inSlices, vault } = lender;
  const prepared = preparedOf(client);
  let waiting: Part[] = [];
  function send(): void {
    const query = new PipelineQuery(waiting, prepared, timeoutMs, translate, silent, inSlices);
    waiting = [];
    client.query(query);
  }
  function add(text: string, parameters: readonly Parameter[], copy?: CopyMessages): Promise<object[]> {
    return new Promise((resolve, reject) => {
      const statement = { name: statementName(text), text, values: parameters.map(wireValue) };
      if (waiting.length === 0) process.nextTick(send);
      waiting.push({ ...statement, ...(copy && { copy }), resolve, reject });
    });
  }
  return {
    query: <Row extends object>(statement: Statement, parameters: readonly Parameter[] = []) =>
      add(formFor(client, statement), parameters) as Promise<Row[]>,
    async copy(copy) {
      await add(copy.statement, [], copy);
    },
    shards: clusterOf(client)?.shards,
    vault,
  };
}

async function commitOn(client: pg.PoolClient, timeoutMs: number): Promise<void> {
  const commit = { text: 'commit', query_timeout: timeoutMs };
  const { command } = await client.query(commit as pg.QueryConfig).catch((error: unknown) => {
    // Without an answer of the server, the outcome of the commit is unknown.
    throw error instanceof pg.DatabaseError ? translate(error) : new DatabaseUnavailable(error);
  });
  if (command !== 'COMMIT') throw new Error(`the transaction ended with ${command}`);
  if (lost.has(client)) throw new DatabaseUnavailable(new Error('the standby has not confirmed the commit'));
}

function isInTransaction(client: pg.PoolClient): boolean {
  return (client as unknown as { getTransactionStatus(): string | null }).getTransactionStatus() !== 'I';
}

/** `patient` connections have no time limits. */
export function connectionOn(client: pg.PoolClient, patient: boolean, lender: Lender): Connection {
  const timeoutMs = patient ? LIMITS.patientStatementTimeoutMs : LIMITS.answerTimeoutMs;
  return {
    ...queryableOn(client, timeoutMs, lender),
    session: client,
    isOpen: () => !lost.has(client),
    async script(text) {
      await client.query({ text, query_timeout: LIMITS.patientStatementTimeoutMs } as pg.QueryConfig);
    },
    commit: () => commitOn(client, timeoutMs),
    release() {
      const isUsable = !isInTransaction(client) && !lost.has(client) && lender.isTrusted(client);
      lender.takeBack(client, isUsable ? 'keep' : 'close');
    },
    discard: () => lender.takeBack(client, isInTransaction(client) ? 'destroy' : 'close'),
  };
}
