import { type EventType, eventFamily, lowerCase } from '../kernel/event-types.ts';
import { SETTLEMENT_STATUSES, type SettlementStatus } from './transaction.ts';

const nameOf = (status: SettlementStatus) => `transaction.${lowerCase(status)}` as const;

export const SETTLEMENT_EVENTS = eventFamily('settlement', SETTLEMENT_STATUSES.map(nameOf));

/** `settlement.transaction.affirmed` for AFFIRMED. */
export function settlementEventType(status: SettlementStatus): EventType {
  return SETTLEMENT_EVENTS.types[nameOf(status)];
}
