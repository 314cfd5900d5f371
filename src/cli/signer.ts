import { readSignerSettings } from '../config/signer.ts';
import type { Signer } from '../signer/contract.ts';
import { SignerError } from '../signer/failure.ts';
import type { KeySettings, OpenedSigner, SignerSettings } from '../signer/open.ts';
import { CommandError, type CommandLine, type Invocation, noArguments, show, table } from './command-line.ts';
import { askSecret } from './secret-input.ts';

/** `ferry signer`: the process with the keys. Its code is loaded here and nowhere else. */

const settingsOf = ({ config, env }: Invocation): SignerSettings =>
  readSignerSettings(config.signerConfig, { env, networks: config.networks });

/** The wall clock of the signer's own machine: it belongs to whoever holds the keys. */
const nowMs = (): number => Date.now();

async function openWith(invocation: Invocation, settings: SignerSettings): Promise<OpenedSigner> {
  const { openSigner } = await import('../signer/open.ts');
  const askPassphrase = (): Promise<Buffer> => askSecret('Passphrase of the key file: ');
  return openSigner(settings, { networks: invocation.config.networks, nowMs, askPassphrase });
}

type AccountRow = { network: string; lanes: readonly string[]; xpub?: string; deposit_addresses?: number };

async function accountsOf(
  opened: { readonly signer: Pick<Signer, 'account'> },
  { policy }: SignerSettings,
): Promise<AccountRow[]> {
  const rows: AccountRow[] = [];
  for (const network of policy.networks.keys()) {
    const { lanes, xpub, deposits } = await opened.signer.account(network, AbortSignal.timeout(60_000));
    rows.push({
      network,
      lanes,
      ...(xpub !== undefined && { xpub }),
      ...(deposits !== undefined && { deposit_addresses: deposits.length }),
    });
  }
  return rows;
}

const accountLines = (rows: readonly AccountRow[]): string =>
  table(
    rows.flatMap(({ network, lanes, xpub }) => [
      ...lanes.map((address, index) => [network, `lane ${index}`, address]),
      ...(xpub === undefined ? [] : [[network, 'xpub', xpub]]),
    ]),
  );

/** A debugger or a heap snapshot shows every key. */
function refuseInspection({ env }: Invocation): void {
  const flags = [...process.execArgv, ...(env.NODE_OPTIONS ?? '').split(/\s+/)];
  const inspecting = flags.find((flag) =>
    /^--(inspect|heapsnapshot|heap-prof|report|abort-on-uncaught)/.test(flag),
  );
  if (inspecting !== undefined)
    throw new CommandError(
      `ferry signer does not run with ${inspecting}: it would write keys to a file or open them to a debugger.`,
    );
}

async function run(invocation: Invocation): Promise<number> {
  noArguments(invocation);
  refuseInspection(invocation);
  const settings = settingsOf(invocation);
  const opened = await openWith(invocation, settings);
  const { serveSigner } = await import('../signer/server.ts');
  const report = (message: string): void => invocation.progress(message);
  const { repairedBytes, lines, path } = opened.log;
  if (repairedBytes > 0)
    report(`${path}: removed ${repairedBytes} bytes of a line that a crash had cut off.`);
  const server = await serveSigner(opened.signer, settings.listen, report);
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });
  invocation.print(`The signer listens on ${server.address}, with ${lines} decisions in its log.`);
  await stopped;
  await server.close();
  await opened.close();
  return 0;
}

function sealedFile(keys: KeySettings): Extract<KeySettings, { kind: 'sealed_file' }> {
  if (keys.kind === 'sealed_file') return keys;
  throw new CommandError(`keys.kind is ${keys.kind}: ferry signer init creates only a sealed_file.`);
}

async function newPassphrase(): Promise<Buffer> {
  const [first, second] = [await askSecret('New passphrase: '), await askSecret('The same again: ')];
  if (!first.equals(second)) throw new SignerError('The two passphrases differ. Nothing was created.');
  second.fill(0);
  return first;
}

async function init(invocation: Invocation): Promise<number> {
  noArguments(invocation);
  refuseInspection(invocation);
  const settings = settingsOf(invocation);
  const { path, passphrase } = sealedFile(settings.keys);
  const { entropyOf, mnemonicOf, newEntropy, seal, seedOf, writeSealed } = await import(
    '../signer/sealed-file.ts'
  );
  const entropy =
    invocation.options.restore === true
      ? entropyOf((await askSecret('Mnemonic: ')).toString('utf8'))
      : newEntropy();
  const secret = passphrase?.() ?? (await newPassphrase());
  writeSealed(path, seal(entropy, secret));
  secret.fill(0);
  const { keysOfSeed } = await import('../signer/keys.ts');
  const { publicSigner } = await import('../signer/decide.ts');
  const keys = keysOfSeed(seedOf(entropy));
  const { policy } = settings;
  const signer = await publicSigner({ keys, networks: invocation.config.networks, policy });
  const accounts = await accountsOf({ signer }, settings);
  const mnemonic = invocation.options['show-mnemonic'] === true ? mnemonicOf(entropy) : undefined;
  entropy.fill(0);
  await keys.close();
  const lines = [
    `Created ${path}.`,
    accountLines(accounts),
    ...(mnemonic === undefined
      ? []
      : ['', 'Write these words down, and keep them away from this machine:', mnemonic]),
  ];
  show(invocation, { path, accounts, ...(mnemonic !== undefined && { mnemonic }) }, lines.join('\n'));
  return 0;
}

async function check(invocation: Invocation): Promise<number> {
  noArguments(invocation);
  refuseInspection(invocation);
  const settings = settingsOf(invocation);
  const opened = await openWith(invocation, settings);
  try {
    const accounts = await accountsOf(opened, settings);
    const { lines, path, repairedBytes } = opened.log;
    const text = [
      `Keys: ${opened.keys.kind}. Log: ${path}, ${lines} decisions, unchanged${repairedBytes > 0 ? `, ${repairedBytes} bytes repaired` : ''}. Database: readable.`,
      accountLines(accounts),
    ];
    show(invocation, { keys: opened.keys.kind, log: { path, decisions: lines }, accounts }, text.join('\n'));
    return 0;
  } finally {
    await opened.close();
  }
}

export const SIGNER_COMMANDS: readonly CommandLine[] = [
  {
    name: 'signer',
    summary: 'run the process that holds the keys of chains, until Ctrl-C or SIGTERM',
    usage: 'signer',
    details: [
      'Signs only what matches a committed assignment in the database, its own limits and its allow-list. All settings are in',
      'the file that FERRY_SIGNER_CONFIG names: see docs/signer.md.',
    ].join('\n'),
    run,
  },
  {
    name: 'signer init',
    summary: 'create the sealed key file of the signer, and print its addresses',
    usage: 'signer init [--restore] [--show-mnemonic] [--json]',
    details: [
      'Creates the file that keys.path of FERRY_SIGNER_CONFIG names; an existing file is never replaced. The passphrase comes',
      'from keys.passphrase, or is asked for. The words that restore all keys are printed only with --show-mnemonic.',
    ].join('\n'),
    options: {
      restore: { help: 'ask for the mnemonic of existing keys, instead of new ones' },
      'show-mnemonic': { help: 'print the words that restore the keys, for the backup' },
    },
    json: true,
    run: init,
  },
  {
    name: 'signer check',
    summary: 'open the keys, the log and the database of the signer, and print its addresses',
    usage: 'signer check [--json]',
    details:
      'Verifies every line of the log. Signs nothing. Cannot run beside the signer itself, which holds the log.',
    json: true,
    run: check,
  },
];
