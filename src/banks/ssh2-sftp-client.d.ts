/** The part of the library that is used: it comes without types. */
declare module 'ssh2-sftp-client' {
  type Listed = { type: string; name: string; size: number; modifyTime: number };
  export default class Client {
    constructor(name: string, callbacks: { error(error: Error): void; end(): void; close(): void });
    connect(options: {
      host: string;
      port: number;
      username: string;
      privateKey: string;
      passphrase?: string | undefined;
      readyTimeout: number;
      hostVerifier: (key: Buffer) => boolean;
    }): Promise<unknown>;
    list(path: string): Promise<Listed[]>;
    get(path: string): Promise<Buffer>;
    put(source: Buffer, path: string): Promise<unknown>;
    rename(from: string, to: string): Promise<unknown>;
    exists(path: string): Promise<false | string>;
    delete(path: string, ignoreMissing?: boolean): Promise<unknown>;
    end(): Promise<unknown>;
  }
}
