import type { RailFinding } from '../rails/kind.ts';
import type { BankSettings } from './settings.ts';
import { openTransport } from './transport.ts';

/** Connects, and lists the directories. Writes nothing. */
export async function checkBank(settings: BankSettings): Promise<readonly RailFinding[]> {
  const { place, outgoing, incoming, archive } = settings;
  const transport = await openTransport(place);
  const started = performance.now();
  const session = await transport.connect();
  try {
    const findings: RailFinding[] = [
      { what: 'connection', found: `${transport.name}, ${Math.round(performance.now() - started)} ms` },
    ];
    if ('sftp' in place) findings.push({ what: 'host key', found: `${place.sftp.hostKey}, as configured` });
    const directories = { outgoing, incoming, ...(archive !== undefined && { archive }) };
    for (const [what, directory] of Object.entries(directories)) {
      try {
        const files = await session.list(directory);
        findings.push({ what, found: `${directory}: ${files.length} files` });
      } catch (error) {
        findings.push({
          what,
          found: `${directory} cannot be listed: ${(error as Error).message}`,
          isFault: true,
        });
      }
    }
    return findings;
  } finally {
    await session.close();
  }
}
