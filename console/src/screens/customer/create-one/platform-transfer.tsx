import { TransferForm } from './transfer-form.tsx';

export default function PlatformTransfer() {
  return <TransferForm isInternal={false} />;
}
