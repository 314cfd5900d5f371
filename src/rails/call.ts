import { Problem, unavailable } from '../kernel/problem.ts';
import type { Payment, PaymentState, Rail, Requested, SubmitResult } from './rail.ts';

/** Limits the time of a call, even if the rail ignores the signal. */
async function within<Value>(
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`no answer within ${timeoutMs} ms`);
      reject(error);
      controller.abort(error);
    }, timeoutMs);
    // A process that stops does not wait for the answer: nothing would record it.
    timer.unref();
  });
  try {
    return await Promise.race([call(controller.signal), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** After an exception or a timeout the outcome is unknown, because the request may have arrived. */
export async function submitTo(rail: Rail, payment: Payment, timeoutMs: number): Promise<SubmitResult> {
  try {
    return await within(timeoutMs, (signal) => rail.submit(payment, signal));
  } catch (error) {
    return { kind: 'failed', meaning: 'unknown', reason: reasonOf(error) };
  }
}

export type Asked = PaymentState | { readonly kind: 'unavailable'; readonly reason: string };

export async function askRail(
  rail: Rail,
  key: string,
  requested: Requested,
  timeoutMs: number,
): Promise<Asked> {
  try {
    return await within(timeoutMs, (signal) => rail.ask(key, signal, requested));
  } catch (error) {
    return { kind: 'unavailable', reason: reasonOf(error) };
  }
}

/** Undefined if the rail does not answer. The withdrawal then waits: nothing was sent yet. */
export async function rentOn(rail: Rail, payment: Payment, timeoutMs: number): Promise<bigint | undefined> {
  if (rail.rentOf === undefined) return 0n;
  return within(timeoutMs, (signal) => rail.rentOf!(payment, signal)).catch(() => undefined);
}

export async function quoteOf(rail: Rail, asset: string, timeoutMs: number): Promise<bigint | undefined> {
  if (rail.quoteFee === undefined) return undefined;
  return within(timeoutMs, (signal) => rail.quoteFee!(asset, signal)).catch(() => undefined);
}

/** What a customer needs from the rail before it can receive a deposit. A rail that does not answer is a problem, not a bug. */
async function forDeposits<Value>(
  { name }: Rail,
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  try {
    return await within(timeoutMs, call);
  } catch (error) {
    // A rail that says itself why it cannot is believed.
    throw error instanceof Problem ? error : unreachable(name);
  }
}

function unreachable(rail: string): Problem {
  return unavailable(`The ${rail} rail does not answer. Nothing was created; retry with the same ref_id.`, 5);
}

export function depositAddressOn(rail: Rail, id: string, timeoutMs: number): Promise<string> {
  return forDeposits(rail, timeoutMs, (signal) => rail.depositAddress!(id, signal));
}

export function depositInstructionsOn(rail: Rail, timeoutMs: number): Promise<object> {
  return forDeposits(rail, timeoutMs, (signal) => rail.depositInstructions!(signal));
}
