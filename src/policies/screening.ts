import type { Static } from 'typebox';
import { createAdapterClient, type Reply } from '../http-rail/client.ts';
import { signatureFault } from '../http-rail/signature.ts';
import { closed } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';

/**
 * Asks a service of the operator whether a withdrawal may be paid. Only a signed answer of the right shape, about this very
 * withdrawal, within the time limit, says anything: everything else leaves the withdrawal held.
 */

export type ScreeningHook = {
  readonly url: string;
  readonly secrets: readonly string[];
  readonly timeoutMs: number;
};

export type ScreeningRequest = {
  readonly transfer_id: string;
  readonly rail: string;
  readonly asset: string;
  readonly amount: string;
  readonly memo?: string;
  readonly destination: object;
  readonly originator: object;
  readonly beneficiary?: object;
};

const Text = Type.String({ minLength: 1, maxLength: LIMITS.reasonLengthMax });
export const ScreeningAnswerShape = Type.Object(
  {
    transfer_id: Type.String(),
    decision: Type.Enum(['PASS', 'REFUSE', 'PENDING']),
    /** For operators only. */
    reason: Type.Optional(Text),
    /** For the customer. */
    public_reason: Type.Optional(Text),
  },
  closed,
);

export type Screened =
  | { readonly kind: 'passed'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string; readonly publicReason: string }
  /** No answer that counts: the withdrawal stays held, and the hook is asked again. */
  | { readonly kind: 'held'; readonly reason: string };

export type Screen = (hook: string, request: ScreeningRequest, signal: AbortSignal) => Promise<Screened>;

const held = (reason: string): Screened => ({ kind: 'held', reason });
const REFUSED = 'The payment was refused.';

function readAnswer(
  reply: Reply,
  transferId: string,
  secrets: readonly string[],
  nowMs: number,
  shapeFault: (value: unknown) => string | undefined,
): Screened {
  if (reply.kind !== 'answered') return held(reply.reason);
  if (reply.status !== 200) return held(`the hook answers ${reply.status}`);
  const unsigned = signatureFault(secrets, reply.header, reply.text, nowMs);
  if (unsigned !== undefined) return held(`the answer is not signed as it must be: ${unsigned}`);
  const misshapen = shapeFault(reply.body);
  if (misshapen !== undefined) return held(`the answer is not valid: ${misshapen}`);
  const answer = reply.body as Static<typeof ScreeningAnswerShape>;
  if (answer.transfer_id !== transferId) return held('the answer is about another withdrawal');
  const { decision, reason = decision, public_reason: publicReason = REFUSED } = answer;
  if (decision === 'PASS') return { kind: 'passed', reason };
  return decision === 'REFUSE' ? { kind: 'refused', reason, publicReason } : held(reason);
}

/** Connections are kept for as long as the process runs. */
export function createScreen(hooks: ReadonlyMap<string, ScreeningHook>, nowMs: () => number) {
  const clients = new Map(
    [...hooks].map(([name, hook]) => [name, { hook, client: createAdapterClient({ ...hook, nowMs }) }]),
  );
  const screen: Screen = async (name, request, signal) => {
    const known = clients.get(name);
    if (known === undefined) return held(`there is no screening hook "${name}" in the configuration`);
    const { Value } = await import('typebox/value');
    const shapeFault = (value: unknown): string | undefined => {
      const [first] = Value.Errors(ScreeningAnswerShape, value);
      return first === undefined ? undefined : `${first.instancePath || 'it'} ${first.message}`;
    };
    try {
      const reply = await known.client.call({ method: 'POST', path: '', body: request }, signal);
      return readAnswer(reply, request.transfer_id, known.hook.secrets, nowMs(), shapeFault);
    } catch (error) {
      return held((error as Error).message);
    }
  };
  return {
    screen,
    close(): void {
      for (const { client } of clients.values()) client.close();
    },
  };
}
