import type { Asset } from '../kernel/asset.ts';
import type { XmlNode } from '../kernel/xml-reader.ts';
import { BANK_LIMITS } from '../limits-banks.ts';
import { childrenOf, textAt, UnacceptableFile } from './document.ts';
import {
  type Status,
  type StatusReport,
  statusOf,
  type TransferStatus,
  transferStatusOf,
} from './pain002.ts';

/**
 * ISO 20022 pacs.002, status of payments between banks. Fedwire and FedNow put the message that it is about beside each
 * transaction, so that one file may be about several messages: a report for each of them.
 */
export function readPacs002(message: XmlNode, currency: Asset): StatusReport[] {
  const messageId = textAt(message, 'GrpHdr/MsgId');
  if (messageId === undefined) throw new UnacceptableFile('a pacs.002 must have GrpHdr/MsgId');
  const groups = childrenOf(message, 'OrgnlGrpInfAndSts');
  const nodes = childrenOf(message, 'TxInfAndSts');
  if (groups.length + nodes.length > BANK_LIMITS.receivedEntriesMax)
    throw new UnacceptableFile(`it has more than ${BANK_LIMITS.receivedEntriesMax} statuses`);
  const statuses = new Map<string, { group: Status | undefined; transfers: TransferStatus[] }>();
  const about = (original: string | undefined) => {
    if (original === undefined)
      throw new UnacceptableFile('each status of a pacs.002 must have the OrgnlMsgId that it is about');
    const known = statuses.get(original) ?? { group: undefined, transfers: [] };
    statuses.set(original, known);
    return known;
  };
  for (const node of groups) {
    const found = about(textAt(node, 'OrgnlMsgId'));
    const code = textAt(node, 'GrpSts');
    if (code !== undefined) found.group = statusOf(code, node);
  }
  const only = groups.length === 1 ? textAt(groups[0], 'OrgnlMsgId') : undefined;
  for (const node of nodes) {
    const found = about(textAt(node, 'OrgnlGrpInf/OrgnlMsgId') ?? only);
    const status = transferStatusOf(node, found.group?.code, currency);
    if (status === undefined) continue;
    // Without the id of a payment it is about the message, which has one payment.
    if (status.endToEndId === undefined && status.uetr === undefined) found.group = status;
    else found.transfers.push(status);
  }
  const reports = [...statuses].map(([originalMessageId, { group, transfers }]) => ({
    messageId,
    originalMessageId,
    group,
    transfers,
  }));
  if (!reports.some(({ group, transfers }) => group !== undefined || transfers.length > 0))
    throw new UnacceptableFile('a pacs.002 must have a status');
  return reports;
}
