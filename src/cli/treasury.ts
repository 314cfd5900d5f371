import { writeFileSync } from 'node:fs';
import {
  CommandError,
  type CommandLine,
  type Invocation,
  noArguments,
  show,
  table,
  text,
  UsageError,
} from './command-line.ts';
import { CREDENTIALS_HELP, callService, SERVICE_OPTIONS } from './service.ts';

/** Wallets of the running service. */

type Shown = {
  readonly networks: readonly {
    readonly network: string;
    readonly wallets: readonly {
      readonly asset: string;
      readonly on_chain: {
        readonly hot: string;
        readonly deposit_addresses: string;
        readonly cold?: string;
        readonly height: number;
      };
      readonly ledger: { readonly hot: string };
      readonly in_flight: { readonly arriving: string; readonly leaving: string };
      readonly difference: string;
      readonly level: string;
    }[];
  }[];
  readonly banks: readonly {
    readonly account: string;
    readonly asset: string;
    readonly balance: string;
    readonly ledger_balance: string;
    readonly difference: string;
  }[];
  readonly alarms: readonly { readonly rail: string; readonly reason: string; readonly detail: string }[];
};

const HEADER = [
  'RAIL',
  'ASSET',
  'HOT',
  'DEPOSITS',
  'COLD',
  'LEDGER',
  'ARRIVING',
  'LEAVING',
  'DIFFERENCE',
  'LEVEL',
  'BLOCK',
];

function linesOf({ networks, banks, alarms }: Shown): string {
  const rows = networks.flatMap(({ network, wallets }) =>
    wallets.map((one) => [
      network,
      one.asset,
      one.on_chain.hot,
      one.on_chain.deposit_addresses,
      one.on_chain.cold ?? '-',
      one.ledger.hot,
      one.in_flight.arriving,
      one.in_flight.leaving,
      one.difference,
      one.level,
      String(one.on_chain.height),
    ]),
  );
  const ofBanks = banks.map((one) => [
    one.account,
    one.asset,
    one.balance,
    '-',
    '-',
    one.ledger_balance,
    '-',
    '-',
    one.difference,
    '-',
    '-',
  ]);
  const told = alarms.map(({ rail, reason, detail }) => `ALARM ${rail} ${reason}: ${detail}`);
  return [table([HEADER, ...rows, ...ofBanks]), ...told].join('\n');
}

type File = {
  readonly format: string;
  readonly content: string;
  readonly summary: Readonly<Record<string, string>>;
};

async function refill(invocation: Invocation): Promise<number> {
  noArguments(invocation);
  const body = {
    network: text(invocation, 'network'),
    asset: text(invocation, 'asset'),
    amount: text(invocation, 'amount'),
  };
  const answer = (await callService(invocation, 'POST', '/v2/operator/treasury/refills', body)) as File;
  const { out } = invocation.options;
  if (typeof out === 'string')
    try {
      // Never over a file that somebody may be signing.
      writeFileSync(out, `${answer.content}\n`, { flag: 'wx' });
    } catch (error) {
      throw new CommandError(`${out} cannot be written: ${(error as Error).message}`);
    }
  const facts = Object.entries(answer.summary).map(([name, value]) => [name, value]);
  const place = typeof out === 'string' ? `The transaction is in ${out}.` : answer.content;
  show(invocation, answer, `${answer.format}\n${table(facts)}\n${place}`);
  return 0;
}

async function cancel(invocation: Invocation): Promise<number> {
  noArguments(invocation);
  const { transfer, assignment } = invocation.options;
  if ((typeof transfer === 'string') === (typeof assignment === 'string'))
    throw new UsageError('--transfer or --assignment is required, and not both.');
  const body = {
    network: text(invocation, 'network'),
    reason: text(invocation, 'reason'),
    ...(typeof transfer === 'string' && { transfer_id: transfer }),
    ...(typeof assignment === 'string' && { assignment_id: assignment }),
  };
  const made = await callService(invocation, 'POST', '/v2/operator/treasury/cancellations', body);
  const answer = made as { readonly cancellation_id?: string };
  const nonce =
    answer.cancellation_id === undefined ? '' : ` Transaction ${answer.cancellation_id} uses up its place.`;
  show(invocation, answer, `Nothing is sent for it.${nonce}`);
  return 0;
}

export const TREASURY_COMMANDS: readonly CommandLine[] = [
  {
    name: 'rails treasury',
    summary: 'print what is on chain, in the ledger and in flight, and alarms',
    usage: 'rails treasury [--url <url>] [--json]',
    details: `Exits with 1 if there is an alarm.\n${CREDENTIALS_HELP}`,
    options: SERVICE_OPTIONS,
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const answer = await callService(invocation, 'GET', '/v2/operator/treasury');
      const shown = answer as unknown as Shown;
      show(invocation, answer, linesOf(shown));
      return shown.alarms.length === 0 ? 0 : 1;
    },
  },
  {
    name: 'rails refill',
    summary: 'make a transaction from the cold wallet to the hot one, for people who sign it',
    usage:
      'rails refill --network <network> --asset <asset> --amount <amount> [--out <file>] [--url <url>] [--json]',
    details: [
      'Prints a PSBT in base64, an EVM transaction in hex, or a message of Solana in base64, without signatures.',
      'When it is final on chain, the service books it by itself.',
      CREDENTIALS_HELP,
    ].join('\n'),
    options: {
      network: { value: 'network', help: 'such as ETHEREUM' },
      asset: { value: 'asset', help: 'such as ETH' },
      amount: { value: 'amount', help: 'what the hot wallet shall receive' },
      out: { value: 'file', help: 'a new file for the transaction' },
      ...SERVICE_OPTIONS,
    },
    json: true,
    run: refill,
  },
  {
    name: 'rails cancel',
    summary: 'cancel a payment that the signer does not sign',
    usage:
      'rails cancel --network <network> (--transfer <id> | --assignment <id>) --reason <text> [--url <url>] [--json]',
    details: [
      'The signer promises never to sign it, or refuses if it has: then the chain decides, and nothing is changed. The',
      'withdrawal fails, its funds return, and the lane goes on. It can be repeated.',
      CREDENTIALS_HELP,
    ].join('\n'),
    options: {
      network: { value: 'network', help: 'such as ETHEREUM' },
      transfer: { value: 'id', help: 'the withdrawal' },
      assignment: { value: 'id', help: 'instead: a transaction of the treasury' },
      reason: { value: 'text', help: 'why' },
      ...SERVICE_OPTIONS,
    },
    json: true,
    run: cancel,
  },
];
