import { cx } from '~/lib/cx.ts';
import { partsOf } from '~/lib/money.ts';

export type MoneyProps = {
  /** A decimal string, as the service has sent it. All its digits are shown. */
  readonly amount: string;
  readonly asset?: string;
  /** A minus for debits, a plus for credits. */
  readonly direction?: 'DEBIT' | 'CREDIT';
  /** The longest fraction of the column (`fractionOf`): shorter ones are filled up, so that decimal points stand below each other. */
  readonly fraction?: number;
  readonly className?: string;
};

const FIGURE_SPACE = '\u2007';
const PUNCTUATION_SPACE = '\u2008';

export function Money({ amount, asset, direction, fraction = 0, className }: MoneyProps) {
  const parts = partsOf(amount);
  const fill = fraction - parts.fraction.length;
  const filling =
    fill <= 0 ? '' : `${parts.fraction === '' ? PUNCTUATION_SPACE : ''}${FIGURE_SPACE.repeat(fill)}`;
  const sign = direction === 'DEBIT' ? '\u2212' : direction === 'CREDIT' ? '+' : '';
  const digits = parts.fraction === '' ? parts.whole : `${parts.whole}.${parts.fraction}`;
  return (
    <span className={cx('tabular whitespace-pre', direction === 'CREDIT' && 'text-good', className)}>
      {sign + digits.replace('-', '\u2212')}
      {/* In every row of a column that has one, so that scrolling creates no elements. */}
      {fraction > 0 && <span aria-hidden="true">{filling}</span>}
      {asset !== undefined && <span className="text-quiet"> {asset}</span>}
    </span>
  );
}
