import type { Logger } from 'pino';
import type { Static, TSchema } from 'typebox';
import type { Database } from '../database/database.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Capability } from '../kernel/capability.ts';
import type { Clock } from '../kernel/clock.ts';
import type { WritePath } from '../ledger/write-path.ts';
import type { Networks } from '../networks/register.ts';
import type { SignedRecord } from '../signer/contract.ts';
import type { NoticeSource, Rail, RailName } from './rail.ts';
import type { RailTreasury } from './treasury.ts';

/**
 * A kind of rail: what the entry of a rail of that kind in the configuration file looks like, and how the rail is opened. The
 * configuration file names the kind of each rail; `src/rail-kinds.ts` lists all kinds.
 */
export type RailKind<Settings = unknown> = {
  readonly name: string;
  /** Whether a rail with that name can be of this kind. */
  serves(rail: RailName, networks: Networks): boolean;
  /** The entry in the configuration file. */
  readonly schema: TSchema;
  /** What the schema cannot express. Throws an error whose message is a clause that names the entry. */
  read(entry: never, context: ReadContext): Settings;
  /** Opens the rail in a running node. Loads the libraries of the kind, so that a node without it does not. */
  open(settings: Settings, node: RailNode): Promise<RailAdapter>;
  /** Connects to the outside, and reports what is there. Needs no database, and changes nothing. */
  check(settings: Settings, signal: AbortSignal): Promise<readonly RailFinding[]>;
  /** Of chains: everything that the signer has ever signed for the rail, oldest first. */
  signed?(settings: Settings, signal: AbortSignal): Promise<readonly SignedRecord[]>;
};

/** With which the entries of the configuration are read. */
export type ReadContext = {
  readonly rail: RailName;
  /** Where the entry is in the file, for messages: `rails.ETHEREUM`. */
  readonly path: string;
  readonly assets: Assets;
  readonly networks: Networks;
  readonly mode: 'sandbox' | 'production';
  /** The value of a secret that an entry refers to. */
  secret(reference: SecretReference, path: string): string;
};

/** Secrets never stand in the configuration file itself. */
export type SecretReference = { readonly env: string } | { readonly file: string };

/** What an opened rail may use. */
export type RailNode = {
  readonly database: Database;
  readonly writePath: WritePath;
  readonly clock: Clock;
  readonly assets: Assets;
  readonly networks: Networks;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
};

/** An opened rail, with what it adds to the service. */
export type RailAdapter = Pick<
  Capability,
  'routes' | 'signedRoutes' | 'tags' | 'problemExamples' | 'workers' | 'backlogs' | 'eventTypes'
> & {
  readonly rail: Rail;
  readonly notices?: NoticeSource;
  /** Of rails with wallets of their own. */
  readonly treasury?: RailTreasury;
};

/** One line of `ferry rails check`. */
export type RailFinding = {
  readonly what: string;
  readonly found: string;
  /** The rail cannot work like this, or not safely. */
  readonly isFault?: true;
};

/** A rail of the configuration. */
export type ConfiguredRail = {
  readonly name: RailName;
  readonly kind: string;
  open(node: RailNode): Promise<RailAdapter>;
  check(signal: AbortSignal): Promise<readonly RailFinding[]>;
  signed?(signal: AbortSignal): Promise<readonly SignedRecord[]>;
};

/** Ties the type of the settings to the schema of the entry. */
export function railKind<const Schema extends TSchema, Settings>(
  kind: Omit<RailKind<Settings>, 'schema' | 'read'> & {
    readonly schema: Schema;
    read(entry: Static<Schema>, context: ReadContext): Settings;
  },
): RailKind {
  return kind;
}
