import { listStops } from '../chains/lease-store.ts';
import { type Recovered, recover } from '../chains/recover.ts';
import { resolve } from '../chains/resolve.ts';
import { recordChange } from '../events/append.ts';
import { newId } from '../kernel/id.ts';
import { formatInstant } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import type { ConfiguredRail, RailFinding } from '../rails/kind.ts';
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
import { RAILS_TEST } from './rails-test.ts';
import { TREASURY_COMMANDS } from './treasury.ts';

type Checked = { readonly rail: string; readonly kind: string; readonly findings: readonly RailFinding[] };

/** A rail that does not answer is a finding like any other. */
async function checkRail({ name, kind, check }: ConfiguredRail): Promise<Checked> {
  const signal = AbortSignal.timeout(LIMITS.railCheckTimeoutMs);
  try {
    return { rail: name, kind, findings: await check(signal) };
  } catch (error) {
    const found = signal.aborted
      ? `no answer within ${LIMITS.railCheckTimeoutMs / 1_000} s`
      : (error as Error).message;
    return { rail: name, kind, findings: [{ what: 'connection', found, isFault: true }] };
  }
}

const linesOf = ({ rail, kind, findings }: Checked): string[][] =>
  findings.map(({ what, found, isFault }, index) => [
    index === 0 ? rail : '',
    index === 0 ? kind : '',
    isFault ? 'FAULT' : 'ok',
    what,
    found,
  ]);

function slotOf({ options }: Invocation): bigint | undefined {
  const slot = options['next-slot'];
  if (slot === undefined) return undefined;
  if (typeof slot !== 'string' || !/^[0-9]{1,18}$/.test(slot))
    throw new UsageError('--next-slot must be a number, the next nonce of the lane.');
  return BigInt(slot);
}

async function resume(invocation: Invocation): Promise<number> {
  noArguments(invocation);
  const { networks } = invocation.config;
  const [network, task, nextSlot] = [
    text(invocation, 'network'),
    text(invocation, 'task'),
    slotOf(invocation),
  ];
  if (!networks.isCryptoNetwork(network))
    throw new UsageError(`--network must be one of ${networks.cryptoNetworks.join(', ')}.`);
  const feeAsset = networks.crypto(network).native.asset;
  return withDatabase(invocation, async (database) => {
    const refusal = await resolve(database, {
      network,
      task,
      feeAsset,
      nextSlot,
      actor: database.actor!,
    });
    if (refusal !== undefined) throw new CommandError(refusal);
    show(invocation, { network, task, resumed: true }, `${network} ${task} goes on.`);
    return 0;
  });
}

const OUTCOMES: Readonly<Record<Recovered['outcome'], string>> = {
  recovered: 'is followed again',
  superseded: 'can never be executed: its payments wait again, or have a later transaction',
  'coins-in-use': 'waits until the transaction that has its coins has ended: then recover again',
  'unknown-payments': 'is not known to this database: book what it paid',
};

function railOf(
  { config }: Invocation,
  network: string,
): ConfiguredRail & Required<Pick<ConfiguredRail, 'signed'>> {
  const rail = config.rails.find(({ name }) => name === network);
  if (rail?.signed === undefined)
    throw new UsageError(`--network must be a chain among the configured rails, not ${network}.`);
  return { ...rail, signed: rail.signed };
}

function skippedOf({ options }: Invocation): number {
  const given = options['skip-addresses'];
  if (given === undefined) return LIMITS.chainAddressesSkipped;
  const count = typeof given === 'string' && /^[0-9]{1,7}$/.test(given) ? Number(given) : Number.NaN;
  if (!(count <= LIMITS.chainAddressesSkippedMax))
    throw new UsageError(
      `--skip-addresses must be a number from 0 to ${LIMITS.chainAddressesSkippedMax}: at least as many deposit addresses as were handed out since the backup.`,
    );
  return count;
}

async function recoverRail(invocation: Invocation): Promise<number> {
  noArguments(invocation);
  const network = text(invocation, 'network');
  const rail = railOf(invocation, network);
  const feeAsset = invocation.config.networks.crypto(network as CryptoNetwork).native.asset;
  const records = await rail
    .signed(AbortSignal.timeout(LIMITS.railCheckTimeoutMs))
    .catch((error: unknown) => {
      throw new CommandError(`${(error as Error).message}. Nothing was changed.`);
    });
  const skipped = skippedOf(invocation);
  return withDatabase(invocation, async (database) => {
    const { recovered, nextAddress } = await recover(database, records, { network, feeAsset }, skipped);
    await database.transaction((tx) =>
      recordChange(tx, database.actor!, {
        action: 'rail.recovered',
        customerId: null,
        resourceId: newId(),
        after: { network, outcomes: recovered.map(({ outcome }) => outcome) },
      }),
    );
    const rows = recovered.flatMap(({ lane, slot, hashes, payments, outcome }) =>
      payments.map(({ key, asset, units, address }) => [
        key,
        `${units} units of ${asset} to ${address}`,
        `${lane} ${slot ?? ''}`.trim(),
        hashes.join(' '),
        OUTCOMES[outcome],
      ]),
    );
    const lost =
      rows.length === 0 ? `The database knows everything that was signed for ${network}.` : table(rows);
    const addresses =
      nextAddress === undefined
        ? ''
        : `\nThe next deposit address has the number ${nextAddress}: earlier ones that are not known here are not handed out again.`;
    show(
      invocation,
      {
        network,
        signed: records.length,
        recovered,
        ...(nextAddress !== undefined && { next_address: nextAddress.toString() }),
      },
      `${lost}${addresses}`,
    );
    return 0;
  });
}

export const RAIL_COMMANDS: readonly CommandLine[] = [
  RAILS_TEST,
  ...TREASURY_COMMANDS,
  {
    name: 'rails check',
    summary: 'connect to every configured rail, and report what is there',
    usage: 'rails check [--json]',
    details: [
      'Reads the rails of FERRY_CONFIG, connects to the node, bank or adapter of each, and changes nothing. Needs no database.',
      'Exits with 1 if a rail cannot work as it is configured.',
    ].join('\n'),
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const { config, progress } = invocation;
      if (config.rails.length === 0)
        throw new CommandError(
          'No rails are configured: FERRY_CONFIG must name a file with an entry "rails".',
        );
      progress(`Connecting to ${config.rails.map(({ name }) => name).join(', ')} …`);
      const checked = await Promise.all(config.rails.map(checkRail));
      const faults = checked.flatMap(({ findings }) => findings).filter(({ isFault }) => isFault === true);
      show(invocation, { rails: checked, sound: faults.length === 0 }, table(checked.flatMap(linesOf)));
      return faults.length === 0 ? 0 : 1;
    },
  },
  {
    name: 'rails stops',
    summary: 'list lanes and scanners of chains that do not go on, and why',
    usage: 'rails stops [--json]',
    json: true,
    async run(invocation) {
      noArguments(invocation);
      return withDatabase(invocation, async (database) => {
        const stops = await listStops(database);
        const rows = stops.map(({ network, task, code, reason, sinceNs, needsOperator }) => [
          network,
          task,
          code,
          formatInstant(sinceNs),
          needsOperator ? 'waits for "ferry rails resume"' : 'goes on by itself',
          reason,
        ]);
        const data = stops.map(({ sinceNs, needsOperator, ...stop }) => ({
          ...stop,
          since: formatInstant(sinceNs),
          needs_operator: needsOperator,
        }));
        show(invocation, { stops: data }, rows.length === 0 ? 'Nothing is stopped.' : table(rows));
        return 0;
      });
    },
  },
  {
    name: 'rails resume',
    summary: 'let a lane or scanner go on that waits for an operator',
    usage: 'rails resume --network <network> --task <lane or scanner> [--next-slot <number>] [--json]',
    details: [
      'Only after you have found out what happened: a lane stops when a transaction that Ferry does not know has used its key.',
      'After a restore from a backup, that transaction may be a payment which the restored database does not know: first run',
      '"ferry rails recover". --next-slot gives up the nonces before that one.',
    ].join('\n'),
    options: {
      network: { value: 'network', help: 'such as ETHEREUM' },
      task: { value: 'task', help: 'the address of the lane, or scanner' },
      'next-slot': { value: 'number', help: 'the next nonce of the lane' },
    },
    json: true,
    run: resume,
  },
  {
    name: 'rails recover',
    summary:
      'after a restore from a backup: read from the signer what it has signed, so that nothing is paid twice',
    usage: 'rails recover --network <network> [--skip-addresses <number>] [--json]',
    details: [
      'Asks the signer of the rail for everything in its log. Transactions that the database has lost are entered again, and the',
      'chain decides about them: withdrawals that it has paid are completed, and their fees are posted. Lists payments that the',
      'database does not know at all. Run it before the service starts, so that no deposit address is handed out a second time; if',
      'a lane has stopped already, run "ferry rails resume" afterwards. It can be repeated.',
    ].join('\n'),
    options: {
      network: { value: 'network', help: 'such as ETHEREUM' },
      'skip-addresses': {
        value: 'number',
        help: `deposit addresses that may have been handed out since the backup, ${LIMITS.chainAddressesSkipped} by default`,
      },
    },
    json: true,
    run: recoverRail,
  },
];
