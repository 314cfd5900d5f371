import { FerryProblem, InvalidRequest, NoAnswer } from '@ferry/client';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { Id } from './id.tsx';

/** JSON pointers of a body, `/amount`, and of a query, `/query/ids/0`. */
const fieldOf = (pointer: string): string => pointer.replace(/^\//, '').replaceAll('/', '.');

/** The message for one field of a form; undefined if the problem is not about it. */
export function fieldProblem(error: unknown, pointer: string): string | undefined {
  if (!(error instanceof InvalidRequest)) return undefined;
  return error.errors.find((one) => one.pointer === pointer || one.pointer.startsWith(`${pointer}/`))
    ?.message;
}

/** What went wrong, in the words of the service. `shown` are pointers whose messages stand at their fields. */
export function ProblemNotice({
  error,
  retry,
  shown = [],
}: {
  readonly error: unknown;
  readonly retry?: () => void;
  readonly shown?: readonly string[];
}) {
  const problem = error instanceof FerryProblem ? error : undefined;
  const title = problem?.title || (error instanceof NoAnswer ? 'No answer' : 'That did not work');
  const errors =
    error instanceof InvalidRequest ? error.errors.filter((one) => !shown.includes(one.pointer)) : [];
  return (
    <div role="alert" className="flex gap-3 rounded-lg border border-bad/40 bg-bad-soft p-3 text-sm">
      <Icon name="alert" className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="min-w-0 flex-1">
        <p className="font-medium text-bad">{title}</p>
        <p className="break-words">{error instanceof Error ? error.message : String(error)}</p>
        {errors.length > 0 && (
          <ul className="mt-1 list-disc pl-4">
            {errors.map(({ pointer, message }) => (
              <li key={pointer}>
                <code className="font-mono text-xs">{fieldOf(pointer)}</code> {message}
              </li>
            ))}
          </ul>
        )}
        {problem?.requestId !== undefined && (
          <p className="mt-1 text-xs">
            Request <Id id={problem.requestId} of="request id" />
          </p>
        )}
      </div>
      {retry !== undefined && (
        <Button onClick={retry} icon="refresh">
          Try again
        </Button>
      )}
    </div>
  );
}
