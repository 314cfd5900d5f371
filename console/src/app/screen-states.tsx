import { LinkButton } from '~/ui/button.tsx';
import { ProblemNotice } from '~/ui/problem-notice.tsx';
import { EmptyState, Loading } from '~/ui/states.tsx';

export const ScreenLoading = () => <Loading />;

/** A screen that threw, or whose code did not arrive: after an update of the service, its old files are gone. */
export function ScreenFailed({ error, reset }: { readonly error: unknown; readonly reset: () => void }) {
  const isOldBuild = /dynamically imported module|Importing a module script/i.test(String(error));
  return (
    <div className="p-6">
      <ProblemNotice error={error} retry={isOldBuild ? () => location.reload() : reset} />
    </div>
  );
}

export function NotHere() {
  return (
    <EmptyState
      icon="search"
      title="There is no such view"
      action={<LinkButton to="/">Go to the start</LinkButton>}
    >
      The address may be misspelt, or from another version of the console.
    </EmptyState>
  );
}
