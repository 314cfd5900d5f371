export { fromUnits, toUnits } from './amounts.ts';
export type { BulkOrder, BulkResult } from './bulk.ts';
export {
  type Answer,
  createFerry,
  type Ferry,
  type FollowOptions,
  type Input,
  type List,
  type OperationName,
} from './client.ts';
export {
  AlreadyExists,
  Conflict,
  DigestMismatch,
  ExceedsPrecision,
  FeeExpired,
  FerryProblem,
  Forbidden,
  InsufficientFunds,
  InsufficientScope,
  InternalProblem,
  InvalidRequest,
  InvalidState,
  NoAnswer,
  NotFound,
  PolicyRefused,
  RateLimited,
  StepUpRequired,
  TokenRefused,
  Unauthenticated,
  Unavailable,
} from './problems.ts';
export type { components, operations } from './schema.generated.ts';
export type { CallOptions, FerryOptions } from './transport.ts';
export { type Event, type VerifyOptions, verifyWebhook, WebhookRefused } from './webhooks.ts';
