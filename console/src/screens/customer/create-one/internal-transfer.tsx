import { TransferForm } from './transfer-form.tsx';

export default function InternalTransfer() {
  return <TransferForm isInternal />;
}
