import type { Asset } from '../kernel/asset.ts';
import type { FiatKind } from '../networks/fiat.ts';
import type { Calendar } from './calendar.ts';
import type { MessageSet } from './orders.ts';
import type { Debtor } from './pain001.ts';

export type SftpSettings = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly privateKey: string;
  readonly passphrase: string | undefined;
  /** SHA256:…, as ssh-keygen -l prints it. */
  readonly hostKey: string;
};

export type BankSettings = {
  readonly rail: FiatKind;
  readonly messages: MessageSet;
  /** Of Fedwire: who sends, as the ids of messages begin after the date. */
  readonly inputSource: string | undefined;
  readonly debtor: Debtor;
  readonly currency: Asset;
  /** The operator's account, as others pay to it. */
  readonly instructions: object;
  readonly place: { readonly directory: string } | { readonly sftp: SftpSettings };
  /** Directories at that place. */
  readonly outgoing: string;
  readonly incoming: string;
  /** Where files of the bank go after they were taken; undefined if they are deleted, because the database has them. */
  readonly archive: string | undefined;
  readonly batchPaymentsMax: number;
  readonly batchMs: number;
  readonly pollMs: number;
  readonly answerWithinMs: number;
  readonly calendar: Calendar;
  /** The bank uses its references again on another day. */
  readonly referencesRepeat: boolean;
  /** What happens to entries without a reference of the bank. */
  readonly withoutReference: 'ask' | 'statement';
  /** What happens to the payments of a file that the bank refuses as a whole. */
  readonly rejectedFiles: 'fail' | 'hold';
};
