import type { ReactNode } from 'react';
import { cx } from '~/lib/cx.ts';
import { words } from '~/lib/words.ts';

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad';

const TONES: Readonly<Record<Tone, string>> = {
  neutral: 'bg-raised text-quiet',
  accent: 'bg-accent-soft text-accent',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
};
const DOTS: Readonly<Record<Tone, string>> = {
  neutral: 'bg-quiet',
  accent: 'bg-accent',
  good: 'bg-good',
  warn: 'bg-warn',
  bad: 'bg-bad',
};

export function Badge({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) {
  return (
    <span
      className={cx(
        'inline-flex h-5 items-center gap-1.5 rounded-full px-2 text-xs font-medium whitespace-nowrap',
        TONES[tone],
      )}
    >
      <span className={cx('size-1.5 rounded-full', DOTS[tone])} aria-hidden="true" />
      {children}
    </span>
  );
}

/** One colour for one meaning, on every screen. */
const STATUS_TONES: Readonly<Record<string, Tone>> = {
  PENDING: 'warn',
  OPEN: 'warn',
  IN_REVIEW: 'warn',
  HELD: 'warn',
  PROPOSED: 'warn',
  RETRYING: 'warn',
  IN_FORCE: 'warn',
  UNKNOWN: 'bad',
  SUBMITTING: 'accent',
  SUBMITTED: 'accent',
  COMPLETED: 'good',
  CREDITED: 'good',
  SETTLED: 'good',
  APPROVED: 'good',
  EXECUTED: 'good',
  ACTIVE: 'good',
  ENABLED: 'good',
  DELIVERED: 'good',
  SUCCEEDED: 'good',
  VERIFIED: 'good',
  AFFIRMED: 'accent',
  FAILED: 'bad',
  REJECTED: 'bad',
  REFUSED: 'bad',
  EXHAUSTED: 'bad',
  CANCELLED: 'neutral',
  CANCELED: 'neutral',
  EXPIRED: 'neutral',
  DISABLED: 'neutral',
  DELETED: 'neutral',
};

export const toneOf = (status: string): Tone => STATUS_TONES[status] ?? 'neutral';

export function StatusBadge({ status }: { readonly status: string }) {
  return <Badge tone={toneOf(status)}>{words(status)}</Badge>;
}
