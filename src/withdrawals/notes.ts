import type { Instant } from '../kernel/instant.ts';

/** What operators may know about a withdrawal and its customer may not. */
export const NOTE_KINDS = [
  /** Why the rail failed the payment, in its own words. */
  'RAIL_REASON',
  'SCREENING_REQUESTED',
  'SCREENING_PASSED',
  'SCREENING_REFUSED',
  'RELEASED',
  'REFUSED',
] as const;
export type NoteKind = (typeof NOTE_KINDS)[number];

export type Note = {
  readonly transferId: string;
  readonly kind: NoteKind;
  readonly detail: string;
  /** 'client:…', 'rail:…', 'hook:…' */
  readonly notedBy: string;
  readonly atNs: Instant;
};
