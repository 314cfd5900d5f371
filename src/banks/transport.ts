import type { SftpSettings } from './settings.ts';

/** Where files are exchanged with the bank. Names are paths at that place. Every call ends within a time limit. */
export type RemoteFile = {
  readonly name: string;
  readonly bytes: number;
  readonly modifiedMs: number;
};

export type Session = {
  list(directory: string): Promise<readonly RemoteFile[]>;
  read(path: string): Promise<Buffer>;
  /** Replaces what is there. */
  write(path: string, bytes: Buffer): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  exists(path: string): Promise<boolean>;
  remove(path: string): Promise<void>;
  close(): Promise<void>;
};

export type Transport = {
  /** How operators recognise it. */
  readonly name: string;
  connect(): Promise<Session>;
};

export const joined = (directory: string, name: string): string =>
  directory === '' || directory === '.' ? name : `${directory.replace(/\/+$/, '')}/${name}`;

/** Ends the wait, whatever the call does. */
export async function bounded<Value>(timeoutMs: number, what: string, work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${timeoutMs / 1_000} s`)), timeoutMs);
    timer.unref();
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** The library for SFTP is loaded only where it is configured. */
export async function openTransport(
  place: { readonly directory: string } | { readonly sftp: SftpSettings },
): Promise<Transport> {
  if ('directory' in place) {
    const { directoryTransport } = await import('./directory.ts');
    return directoryTransport(place.directory);
  }
  const { sftpTransport } = await import('./sftp.ts');
  return sftpTransport(place.sftp);
}
