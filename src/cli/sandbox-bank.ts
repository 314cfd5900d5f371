import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageSet } from '../banks/orders.ts';
import { createSandboxBank, requestDeposit, type SandboxBank } from '../banks/sandbox-bank.ts';
import { openTransport } from '../banks/transport.ts';
import { newId } from '../kernel/id.ts';
import { CommandError, type CommandLine, type Invocation, noArguments, UsageError } from './command-line.ts';

/** `ferry sandbox-bank`: the other side of a rail of the kind iso20022, for development. */

function textOf({ options }: Invocation, name: string, otherwise?: string): string {
  const value = options[name] ?? otherwise;
  if (typeof value !== 'string' || value === '') throw new UsageError(`--${name} is required.`);
  return value;
}

function secondsOf(invocation: Invocation, name: string, otherwise: string): number {
  const text = textOf(invocation, name, otherwise);
  if (!/^\d{1,6}(\.\d{1,3})?$/.test(text))
    throw new UsageError(`--${name} must be a number of seconds, not "${text}".`);
  return Number(text) * 1_000;
}

function messagesOf(invocation: Invocation): MessageSet {
  const text = textOf(invocation, 'messages', 'pain.001');
  const found = (['pain.001', 'fedwire', 'fednow'] as const).find((one) => one === text);
  if (found === undefined)
    throw new UsageError(`--messages must be pain.001, fedwire or fednow, not "${text}".`);
  return found;
}

const recordOf = (invocation: Invocation): string =>
  textOf(invocation, 'record', `${textOf(invocation, 'directory')}/sandbox-bank.json`);

async function bankOf(invocation: Invocation): Promise<SandboxBank> {
  const directory = textOf(invocation, 'directory');
  return createSandboxBank({
    transport: await openTransport({ directory }),
    outgoing: textOf(invocation, 'outgoing', 'outgoing'),
    incoming: textOf(invocation, 'incoming', 'incoming'),
    account: textOf(invocation, 'account'),
    messages: messagesOf(invocation),
    aba: textOf(invocation, 'aba', '021000021'),
    currency: { code: 'USD', decimals: 2 },
    record: recordOf(invocation),
    payMs: secondsOf(invocation, 'pay-after', '2'),
    slowMs: secondsOf(invocation, 'slow-after', '60'),
    nowMs: () => Date.now(),
  });
}

/** Until Ctrl-C. A turn that fails is repeated: the directories may be created later. */
async function serve(bank: SandboxBank, invocation: Invocation): Promise<void> {
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());
  const statementMs = secondsOf(invocation, 'statement-every', '60');
  let statementAt = performance.now() + statementMs;
  while (!stopped.signal.aborted) {
    try {
      const count = await bank.turn();
      if (count > 0) invocation.print(`handled or sent ${count} messages`);
      if (performance.now() >= statementAt) {
        await bank.state();
        statementAt = performance.now() + statementMs;
        invocation.print('sent a statement');
      }
    } catch (error) {
      invocation.progress(`The turn failed, and is repeated: ${(error as Error).message}`);
    }
    await sleep(500, undefined, { signal: stopped.signal }).catch(() => undefined);
  }
}

const PLACE = {
  directory: { value: 'path', help: 'the directory that the rail is configured with' },
  outgoing: { value: 'name', help: "the rail's outgoing directory in it, outgoing by default" },
  incoming: { value: 'name', help: "the rail's incoming directory in it, incoming by default" },
  account: { value: 'number', help: "the account number of the operator, as in the rail's configuration" },
  record: {
    value: 'path',
    help: 'where the bank keeps its record, sandbox-bank.json in the directory by default',
  },
} as const;

export const SANDBOX_BANK_COMMANDS: readonly CommandLine[] = [
  {
    name: 'sandbox-bank',
    summary: 'run a bank that answers files of payments, for development',
    usage: 'sandbox-bank --directory <path> --account <number> [options]',
    details: [
      'Reads pain.001 files from the outgoing directory, and answers with pain.002, camt.054 and camt.053 files.',
      'With --messages fedwire or fednow: reads pacs.008, and answers with pacs.002, pacs.004, pacs.008 and camt.053.',
      'The cents of an amount decide: .66 is rejected, .77 is paid and then returned, .88 is paid slowly, all others are paid.',
    ].join('\n'),
    options: {
      ...PLACE,
      messages: {
        value: 'set',
        help: "pain.001 by default, fedwire or fednow, as in the rail's configuration",
      },
      aba: {
        value: 'number',
        help: 'with fedwire and fednow: the ABA number of the operator, 021000021 by default',
      },
      'pay-after': { value: 'seconds', help: 'how long a payment takes, 2 by default' },
      'slow-after': { value: 'seconds', help: 'how long a slow payment takes, 60 by default' },
      'statement-every': { value: 'seconds', help: 'how often a statement is sent, 60 by default' },
    },
    async run(invocation) {
      noArguments(invocation);
      const bank = await bankOf(invocation);
      invocation.print(`The sandbox bank serves ${textOf(invocation, 'directory')} until Ctrl-C.`);
      await serve(bank, invocation);
      return 0;
    },
  },
  {
    name: 'sandbox-bank deposit',
    summary: 'let money arrive at the sandbox bank',
    usage: 'sandbox-bank deposit --directory <path> --amount <amount> --text <text> [options]',
    options: {
      directory: PLACE.directory,
      record: PLACE.record,
      amount: { value: 'amount', help: 'with two decimals: 100.00' },
      text: { value: 'text', help: 'the remittance text; a memo_id in it credits the profile' },
      sender: { value: 'name', help: 'the name of the payer, Sandbox Payer by default' },
    },
    async run(invocation) {
      noArguments(invocation);
      const amount = textOf(invocation, 'amount');
      if (!/^\d{1,12}\.\d{2}$/.test(amount))
        throw new CommandError(`--amount must have two decimals, such as 100.00, not "${amount}".`);
      const deposit = {
        amount,
        text: textOf(invocation, 'text'),
        sender: textOf(invocation, 'sender', 'Sandbox Payer'),
      };
      await requestDeposit(recordOf(invocation), newId(), deposit);
      invocation.print(`${amount} USD arrive with the next turn of the running sandbox bank.`);
      return 0;
    },
  },
];
