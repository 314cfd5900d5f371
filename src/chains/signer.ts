/** The contract between the keeper and the signer. The signer owns it, because it must not depend on the code of the service. */
export {
  type RefusalCode,
  type Signer,
  type SignerAccount,
  SignerRefusal,
  type SignRequest,
} from '../signer/contract.ts';
