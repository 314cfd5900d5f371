import { createHash } from 'node:crypto';
import type { Asset } from '../kernel/asset.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import { type XmlElement, xmlOf } from '../kernel/xml.ts';
import { directionOf, sizeOf } from './json.ts';
import { type Movement, type Position, type Statement, totalOf } from './statement.ts';

/**
 * ISO 20022 camt.053.001.08, bank-to-customer statement. Amounts are positive, with an indicator for the direction. The booked
 * balance is what the profile owns; what is available of it is the balance CLAV.
 */
const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08';

const DECIMALS_MAX = 5;
const DIGITS_MAX = 18;
/** Max35Text, the length of references. */
const REFERENCE_MAX = 35;

/** Why the standard cannot express amounts of this asset; undefined if it can. */
export function camtFault({ code, decimals }: Asset): string | undefined {
  if (!/^[A-Z]{3}$/.test(code))
    return `camt.053 has currencies of three letters, and not ${code}: accept JSON or CSV`;
  if (decimals > DECIMALS_MAX)
    return `camt.053 has amounts of up to ${DECIMALS_MAX} decimals, and ${code} has ${decimals}: accept JSON or CSV`;
  return undefined;
}

const plainId = (id: string): string => id.replaceAll('-', '');

/** The same for the same period, so that a program that reads it twice notices. */
function statementId({ profileId, asset, from, to }: Statement): string {
  return createHash('sha256').update(`${profileId} ${asset} ${from} ${to}`).digest('hex').slice(0, 32);
}

function amountOf(units: bigint, { code, decimals }: Asset): XmlElement {
  const digits = units.toString().padStart(decimals + 1, '0');
  if (digits.length > DIGITS_MAX)
    throw new Error(`camt.053 cannot express ${units} units of ${code}: accept JSON or CSV`);
  const integer = digits.slice(0, digits.length - decimals);
  const text = decimals === 0 ? integer : `${integer}.${digits.slice(-decimals)}`;
  return ['Amt', text, { Ccy: code }];
}

const indicatorOf = (units: bigint): XmlElement => [
  'CdtDbtInd',
  directionOf(units) === 'CREDIT' || units === 0n ? 'CRDT' : 'DBIT',
];

function balanceOf(code: string, units: bigint, at: Instant, asset: Asset): XmlElement {
  return [
    'Bal',
    [
      ['Tp', [['CdOrPrtry', [['Cd', code]]]]],
      amountOf(units, asset),
      indicatorOf(units),
      ['Dt', [['DtTm', formatInstant(at)]]],
    ],
  ];
}

function entryOf({ atNs, number, units, cause }: Movement, asset: Asset): XmlElement {
  const { type, id, kind, refId, note } = cause;
  const fits = refId !== undefined && refId.length <= REFERENCE_MAX;
  const more = [...(refId !== undefined && !fits ? [refId] : []), ...(note !== undefined ? [note] : [])];
  const amount = amountOf(sizeOf(units), asset);
  return [
    'Ntry',
    [
      ['NtryRef', `${atNs}-${number}`],
      amount,
      indicatorOf(units),
      ['Sts', [['Cd', 'BOOK']]],
      ['BookgDt', [['DtTm', formatInstant(atNs)]]],
      ['ValDt', [['DtTm', formatInstant(atNs)]]],
      ['AcctSvcrRef', plainId(id)],
      [
        'BkTxCd',
        [
          [
            'Prtry',
            [
              ['Cd', (kind ?? type).slice(0, REFERENCE_MAX)],
              ['Issr', 'FERRY'],
            ],
          ],
        ],
      ],
      [
        'NtryDtls',
        [
          [
            'TxDtls',
            [
              [
                'Refs',
                [
                  ['AcctSvcrRef', plainId(id)],
                  ['EndToEndId', fits ? refId : 'NOTPROVIDED'],
                ],
              ],
              amount,
              indicatorOf(units),
              // AdditionalTransactionInformation has up to 500 characters.
              more.length === 0
                ? undefined
                : ['AddtlTxInf', Array.from(more.join(' · ')).slice(0, 500).join('')],
            ],
          ],
        ],
      ],
    ],
  ];
}

/** Everything before the entries; the elements that they are in stay open. */
function head(statement: Statement, createdAtNs: Instant, asset: Asset): string {
  const { profileId, from, to, opening, closing } = statement;
  const id = statementId(statement);
  const created: XmlElement = ['CreDtTm', formatInstant(createdAtNs)];
  const balances = (code: string, position: Position, at: Instant): XmlElement =>
    balanceOf(code, totalOf(position), at, asset);
  const elements: XmlElement[] = [
    ['Id', id],
    created,
    [
      'FrToDt',
      [
        ['FrDtTm', formatInstant(from)],
        ['ToDtTm', formatInstant(to)],
      ],
    ],
    [
      'Acct',
      [
        ['Id', [['Othr', [['Id', plainId(profileId)]]]]],
        ['Ccy', asset.code],
      ],
    ],
    balances('OPBD', opening, from),
    balances('CLBD', closing, to),
    balanceOf('CLAV', closing.available, to, asset),
  ];
  const header = xmlOf(['GrpHdr', [['MsgId', id], created]]);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${NAMESPACE}"><BkToCstmrStmt>${header}<Stmt>${elements.map(xmlOf).join('')}`;
}

export async function* camtTexts(
  statement: Statement,
  movements: AsyncIterable<readonly Movement[]>,
  asset: Asset,
  createdAtNs: Instant,
): AsyncGenerator<string> {
  yield head(statement, createdAtNs, asset);
  for await (const some of movements)
    if (some.length > 0) yield some.map((one) => xmlOf(entryOf(one, asset))).join('');
  yield '</Stmt></BkToCstmrStmt></Document>';
}
