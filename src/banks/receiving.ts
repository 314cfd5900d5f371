import { BANK_LIMITS } from '../limits-banks.ts';
import { refuseLarge, takeAnswer } from './answers.ts';
import type { BankParts } from './parts.ts';
import { joined, type RemoteFile, type Session } from './transport.ts';

/** Names that programs give to files that they have not finished. */
const UNFINISHED = /^\.|\.(tmp|part|filepart|partial|writing)$/i;

/** Files as they were listed before: one that has not changed since is complete. */
export type Listing = Map<string, string>;

const versionOf = ({ bytes, modifiedMs }: RemoteFile): string => `${bytes} ${modifiedMs}`;

/** The next name in the archive that is free: banks use names again. */
async function archivedAs(session: Session, directory: string, name: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const path = joined(directory, number === 1 ? name : `${name}.${number}`);
    if (!(await session.exists(path))) return path;
  }
}

/** Takes the files of the bank, oldest first. True if more are there than one turn takes. */
export async function receiveFiles(
  parts: BankParts,
  session: Session,
  before: Listing,
  renew: () => Promise<void>,
): Promise<boolean> {
  const { settings, checkpoint } = parts;
  const { incoming, archive } = settings;
  const listed = (await session.list(incoming)).filter(({ name }) => !UNFINISHED.test(name));
  const stable = listed.filter((file) => before.get(file.name) === versionOf(file));
  before.clear();
  for (const file of listed) before.set(file.name, versionOf(file));
  stable.sort((a, b) => a.modifiedMs - b.modifiedMs || (a.name < b.name ? -1 : 1));
  let taken = 0;
  for (const file of stable.slice(0, BANK_LIMITS.receivedFilesMax)) {
    await renew();
    if (file.bytes > BANK_LIMITS.receivedBytesMax) {
      await refuseLarge(parts, file.name, file.bytes);
      continue;
    }
    const path = joined(incoming, file.name);
    const bytes = await session.read(path);
    await checkpoint?.('a file of the bank is read');
    await takeAnswer(parts, file.name, bytes);
    await checkpoint?.('its effect is committed');
    if (archive === undefined) await session.remove(path);
    else await session.rename(path, await archivedAs(session, archive, file.name));
    await checkpoint?.('it is archived');
    before.delete(file.name);
    taken += 1;
  }
  return taken > 0 && stable.length > BANK_LIMITS.receivedFilesMax;
}
