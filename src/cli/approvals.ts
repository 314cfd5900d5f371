import { isId } from '../kernel/id.ts';
import { Problem } from '../kernel/problem.ts';
import { vaultOf } from '../vault.ts';
import {
  CommandError,
  type CommandLine,
  type Invocation,
  noArguments,
  show,
  table,
  text,
  UsageError,
  withDatabase,
} from './command-line.ts';
import { claim } from './four-eyes.ts';
import { CREDENTIALS_HELP, callService, SERVICE_OPTIONS } from './service.ts';

/** Requests that need the approval of others. */

const PATH = '/v2/operator/approvals';

function oneRequest({ positionals }: Invocation): string {
  const [id, extra] = positionals;
  if (id === undefined || extra !== undefined) throw new UsageError('Expected one approval_id.');
  const isApproval: boolean = isId(id);
  if (!isApproval) throw new CommandError(`There is no approval with the id "${id}".`);
  return id;
}

type Listed = {
  readonly id: string;
  readonly status: string;
  readonly action: string;
  readonly summary: string;
  readonly maker: { readonly id: string };
};

async function list(invocation: Invocation): Promise<number> {
  noArguments(invocation);
  const { options } = invocation;
  const query = new URLSearchParams(options.all === true ? {} : { statuses: 'PENDING' });
  if (typeof options.action === 'string') query.set('actions', options.action);
  const answer = await callService(invocation, 'GET', `${PATH}?${query.toString()}`);
  const items = answer.items as readonly Listed[];
  const rows = items.map((one) => [one.id, one.status, one.action, one.maker.id, one.summary]);
  const header = ['ID', 'STATUS', 'ACTION', 'MAKER', 'SUMMARY'];
  show(invocation, answer, rows.length === 0 ? 'No request waits.' : table([header, ...rows]));
  return 0;
}

function voteCommand(verb: 'approve' | 'reject'): CommandLine {
  const reason = verb === 'reject' ? '--reason <text>' : '[--reason <text>]';
  return {
    name: `approvals ${verb}`,
    summary:
      verb === 'approve'
        ? 'approve a request; the last approval that it needs executes it'
        : 'reject a request, or withdraw your own; nothing is executed',
    usage: `approvals ${verb} <approval_id> --digest <digest> ${reason} [--url <url>] [--json]`,
    details: `The digest is printed by "ferry approvals show": it is that of exactly what you have seen.\n${CREDENTIALS_HELP}`,
    options: {
      digest: { value: 'digest', help: 'the digest of the request that you have seen' },
      reason: { value: 'text', help: 'why, for the audit log' },
      ...SERVICE_OPTIONS,
    },
    json: true,
    async run(invocation) {
      const id = oneRequest(invocation);
      const digest = text(invocation, 'digest');
      const why = verb === 'reject' ? text(invocation, 'reason') : invocation.options.reason;
      const body = { digest, ...(typeof why === 'string' && { reason: why }) };
      const answer = await callService(invocation, 'POST', `${PATH}/${id}/${verb}`, body);
      const problem = answer.problem as { readonly detail: string } | undefined;
      const detail = problem === undefined ? '' : `: ${problem.detail}`;
      show(invocation, answer, `Request ${id} is ${String(answer.status)}${detail}`);
      return answer.status === 'FAILED' ? 1 : 0;
    },
  };
}

async function take(invocation: Invocation): Promise<number> {
  const id = oneRequest(invocation);
  return withDatabase(invocation, async (database) => {
    await vaultOf(invocation.config, database);
    const given = await claim(invocation, database, id).catch((error: unknown) => {
      throw error instanceof Problem ? new CommandError(error.message) : error;
    });
    const lines = Object.entries(given).map(([name, value]) => `${name.padEnd(22)}${String(value)}`);
    show(invocation, given, [...lines, 'Store it now: it is not shown again.'].join('\n'));
    return 0;
  });
}

export const APPROVAL_COMMANDS: readonly CommandLine[] = [
  {
    name: 'approvals list',
    summary: 'list the requests that wait for approval',
    usage: 'approvals list [--all] [--action <action>] [--url <url>] [--json]',
    details: CREDENTIALS_HELP,
    options: {
      all: { help: 'also those that were decided or have expired' },
      action: { value: 'action', help: 'only this action, such as client.create' },
      ...SERVICE_OPTIONS,
    },
    json: true,
    run: list,
  },
  {
    name: 'approvals show',
    summary: 'print a request with its proposal, digest and votes as JSON',
    usage: 'approvals show <approval_id> [--url <url>] [--json]',
    details: CREDENTIALS_HELP,
    options: SERVICE_OPTIONS,
    json: true,
    async run(invocation) {
      const answer = await callService(invocation, 'GET', `${PATH}/${oneRequest(invocation)}`);
      invocation.print(JSON.stringify(answer, null, 2));
      return 0;
    },
  },
  voteCommand('approve'),
  voteCommand('reject'),
  {
    name: 'approvals claim',
    summary: 'print, once, the secret or the link that an approved request of this user made',
    usage: 'approvals claim <approval_id> [--json]',
    details:
      'For requests that the ferry command made. The secret is made now, and only its hash is stored. The command needs only the database.',
    json: true,
    run: take,
  },
];
