import type { ActingCaller, Actor } from '../kernel/actor.ts';
import type { PrivilegedName } from '../kernel/privileged.ts';
import type { Caller, Privileged } from '../kernel/route.ts';
import type { Act } from '../ledger/act.ts';
import type { Command } from '../ledger/command.ts';
import type { Level, Result } from './approval.ts';
import { WAITING } from './examples.ts';
import { ApprovalShape } from './schema.ts';

/** For the route of an action that may have to wait. */
export const privileged = (action: PrivilegedName): Privileged => ({
  action,
  proposed: { shape: ApprovalShape, example: { ...WAITING, action } },
});

/** Who proposed an action. Its scopes were checked when it did. */
export type Maker = Pick<Caller, 'customerId' | 'clientId'> & { readonly actor: Actor };

export type Proposal = Readonly<Record<string, unknown>>;

/** Something that only the maker of an executed request gets, once: a secret of a client, or an enrolment link. */
export type Handover = {
  /** Stores what is needed to recognise it, never the thing itself. */
  readonly act: Act;
  /** After the commit. */
  given(): object;
};

/** How a privileged action is executed, as the capability that owns it declares it. */
export type PrivilegedAction<Asked extends Proposal, Made> = {
  readonly name: PrivilegedName;
  readonly level: Level;
  /** What will happen, as a sentence. */
  summary(asked: Asked): string;
  /**
   * The command that executes it. It is built from the stored proposal: first to find out whether it would be refused now, and
   * again for every vote. Throws a problem if it is refused before that.
   */
  command(maker: Maker, asked: Asked): Promise<Command<Made>>;
  result(made: Made): Result;
  /** Undefined if there is nothing to hand over. */
  handover?(asked: Asked, result: Result): Handover | undefined;
  /** Waits, after the commit of the last vote and before its answer, until what was executed is in force. */
  inForce?(result: Result): Promise<unknown>;
};

/** A 202 answer: the request that waits, as JSON. */
export type Proposed = { readonly body: string; readonly status: 202; readonly replayed?: boolean };

/** Proposes the action instead of executing it. Undefined if it needs no approval, or was executed under its ref_id before. */
export type Propose<Asked extends Proposal> = (
  caller: Proposer,
  asked: Asked,
) => Promise<Proposed | undefined>;

/** Who calls an operation, or a user of the command line. */
export type Proposer = ActingCaller & { readonly actor?: Actor };

/** Where capabilities declare their privileged actions. */
export type Declare = <Asked extends Proposal, Made>(action: PrivilegedAction<Asked, Made>) => Propose<Asked>;
