import { stagedUnderWay } from '../banks/under-way-store.ts';
import { signedUnderWay } from '../chains/under-way-store.ts';
import type { Database } from '../database/database.ts';
import { freeze, lift } from '../freezes/act.ts';
import {
  type Freeze,
  type FreezeScope,
  presentFreeze,
  presentFrozen,
  type Subject,
  subjectText,
} from '../freezes/freeze.ts';
import { findInForce, inForce } from '../freezes/store.ts';
import { isId } from '../kernel/id.ts';
import { formatInstant } from '../kernel/instant.ts';
import { Problem } from '../kernel/problem.ts';
import { submissionsUnderWay } from '../withdrawals/freeze-store.ts';
import {
  CommandError,
  type CommandLine,
  counted,
  type Invocation,
  noArguments,
  show,
  table,
  text,
  UsageError,
  withDatabase,
} from './command-line.ts';

/** The kill switch. It needs only the database: it works while no node answers. */

const SCOPES: Readonly<Record<string, FreezeScope>> = {
  platform: 'PLATFORM',
  customer: 'CUSTOMER',
  identity: 'IDENTITY',
  profile: 'PROFILE',
};
const WHAT = 'platform|customer|identity|profile [<id>]';
const REASON = { reason: { value: 'text', help: 'why, for operators only' } } as const;
const UNDER_WAY = [submissionsUnderWay, signedUnderWay, stagedUnderWay];

function subjectOf({ positionals }: Invocation): Subject {
  const [noun, id, extra] = positionals;
  const scope = SCOPES[noun ?? ''];
  if (scope === undefined) throw new UsageError(`Expected one of ${Object.keys(SCOPES).join(', ')}.`);
  if (scope === 'PLATFORM') {
    if (id !== undefined) throw new UsageError(`Unexpected argument "${id}".`);
    return { scope, subjectId: null };
  }
  if (id === undefined || extra !== undefined) throw new UsageError(`Expected one ${noun}_id.`);
  if (!isId(id)) throw new CommandError(`There is no ${noun} with the id "${String(id)}".`);
  return { scope, subjectId: id };
}

async function runFreeze(invocation: Invocation, database: Database): Promise<void> {
  const subject = subjectOf(invocation);
  const order = { ...subject, reason: text(invocation, 'reason'), actor: database.actor! };
  const frozen = await freeze(database, order, UNDER_WAY).catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error;
    throw new CommandError(`There is no ${subject.scope.toLowerCase()} with the id "${subject.subjectId}".`);
  });
  const { isInForce, submissionsUnderWay: out } = frozen;
  const lines = [
    `Froze ${subjectText(subject)}: freeze ${frozen.freeze.id}.`,
    ...(isInForce ? [] : ['A transaction that began earlier is still running and may not see the freeze.']),
    ...(out === 0 ? [] : [`${counted(out, 'payment')} handed to a rail before the freeze has not ended.`]),
  ];
  show(invocation, presentFrozen(frozen), lines.join('\n'));
}

async function runUnfreeze(invocation: Invocation, database: Database): Promise<void> {
  const subject = subjectOf(invocation);
  const found = await findInForce(database, subject);
  if (found === undefined) throw new CommandError(`No freeze of ${subjectText(subject)} is in force.`);
  const lifted = await lift(database, found.id, database.actor!, text(invocation, 'reason'));
  show(invocation, presentFreeze(lifted), `Lifted freeze ${lifted.id} of ${subjectText(subject)}.`);
}

const line = (one: Freeze): string[] => [
  one.scope,
  one.subjectId ?? '',
  formatInstant(one.createdAtNs),
  one.frozenBy,
  one.reason,
];

export const FREEZE_COMMANDS: readonly CommandLine[] = [
  {
    name: 'freeze list',
    summary: 'list the freezes that are in force',
    usage: 'freeze list [--json]',
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const found = await withDatabase(invocation, inForce);
      const rows = [['SCOPE', 'SUBJECT', 'SINCE', 'BY', 'REASON'], ...found.map(line)];
      show(
        invocation,
        { freezes: found.map(presentFreeze) },
        found.length === 0 ? 'Nothing is frozen.' : table(rows),
      );
      return 0;
    },
  },
  {
    name: 'freeze',
    summary: 'stop everything of a party, or of the whole platform, at once',
    usage: `freeze ${WHAT} --reason <text> [--json]`,
    details: [
      'Stops new transfers, withdrawals that were not handed to a rail, affirmations and settlements, on every node. Deposits',
      'that arrive are credited, and cannot be used. Returns when nothing more is submitted to a rail, and says so if that',
      'takes too long. The command needs only the database.',
    ].join('\n'),
    options: REASON,
    json: true,
    async run(invocation) {
      await withDatabase(invocation, (database) => runFreeze(invocation, database));
      return 0;
    },
  },
  {
    name: 'unfreeze',
    summary: 'lift a freeze; what waited goes on',
    usage: `unfreeze ${WHAT} --reason <text> [--json]`,
    options: REASON,
    json: true,
    async run(invocation) {
      await withDatabase(invocation, (database) => runUnfreeze(invocation, database));
      return 0;
    },
  },
];
