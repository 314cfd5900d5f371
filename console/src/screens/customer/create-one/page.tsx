import { type ComponentType, lazy, Suspense } from 'react';
import { useScreenParams } from '~/app/navigation.ts';
import { useMay } from '~/app/session.ts';
import { OPERATIONS } from '~/customer/operations.ts';
import { EmptyState, LinkButton, Loading, PageBody, PageHeader } from '~/ui/index.ts';

const FORMS: Readonly<Record<string, ComponentType>> = {
  'fiat-withdrawal': lazy(() => import('./fiat-withdrawal.tsx')),
  'crypto-withdrawal': lazy(() => import('./crypto-withdrawal.tsx')),
  'platform-transfer': lazy(() => import('./platform-transfer.tsx')),
  'internal-transfer': lazy(() => import('./internal-transfer.tsx')),
  settlement: lazy(() => import('./settlement.tsx')),
  'deposit-address': lazy(() => import('./deposit-address.tsx')),
  'deposit-instructions': lazy(() => import('./deposit-instructions.tsx')),
  'fiat-account': lazy(() => import('./fiat-account.tsx')),
  members: lazy(() => import('./members.tsx')),
};

export default function NewOne() {
  const { operation: id } = useScreenParams<{ operation: string }>();
  const operation = OPERATIONS.find((one) => one.id === id);
  const Form = FORMS[id];
  const isAllowed = useMay(operation?.scope ?? '');
  return (
    <>
      <PageHeader title={operation?.title ?? 'New'} back={{ to: '/new', label: 'New' }} />
      <PageBody>
        {operation === undefined || Form === undefined ? (
          <EmptyState
            icon="search"
            title="There is no such operation"
            action={<LinkButton to="/new">All</LinkButton>}
          />
        ) : isAllowed ? (
          <>
            <p className="-mt-2 text-sm text-quiet">{operation.about}</p>
            <Suspense fallback={<Loading />}>
              <Form key={id} />
            </Suspense>
          </>
        ) : (
          <EmptyState icon="shield" title="Not permitted">
            This needs the scope {operation.scope}. People with the role maker have it.
          </EmptyState>
        )}
      </PageBody>
    </>
  );
}
