import { LIMITS } from '../limits.ts';
import type { ConfiguredRail, RailFinding } from '../rails/kind.ts';
import { CommandError, type CommandLine, noArguments, show, table } from './command-line.ts';

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

export const RAIL_COMMANDS: readonly CommandLine[] = [
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
        throw new CommandError('No rails are configured: FERRY_CONFIG must name a file with an entry "rails".');
      progress(`Connecting to ${config.rails.map(({ name }) => name).join(', ')} …`);
      const checked = await Promise.all(config.rails.map(checkRail));
      const faults = checked.flatMap(({ findings }) => findings).filter(({ isFault }) => isFault === true);
      show(invocation, { rails: checked, sound: faults.length === 0 }, table(checked.flatMap(linesOf)));
      return faults.length === 0 ? 0 : 1;
    },
  },
];
