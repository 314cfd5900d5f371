// Creates a key pair of secp256k1 in a PKCS #11 token: <module> <token> <pin> <label>.
import { createRequire } from 'node:module';

const pkcs11js = createRequire(import.meta.url)('pkcs11js');
const [module, token, pin, label] = process.argv.slice(2);
const library = new pkcs11js.PKCS11();
library.load(module);
library.C_Initialize();
const slot = library.C_GetSlotList(true).find((one) => library.C_GetTokenInfo(one).label.trim() === token);
const session = library.C_OpenSession(slot, pkcs11js.CKF_SERIAL_SESSION | pkcs11js.CKF_RW_SESSION);
library.C_Login(session, pkcs11js.CKU_USER, pin);
const named = [
  { type: pkcs11js.CKA_TOKEN, value: true },
  { type: pkcs11js.CKA_LABEL, value: label },
];
library.C_GenerateKeyPair(
  session,
  { mechanism: pkcs11js.CKM_EC_KEY_PAIR_GEN },
  [
    ...named,
    { type: pkcs11js.CKA_EC_PARAMS, value: Buffer.from('06052b8104000a', 'hex') },
    { type: pkcs11js.CKA_VERIFY, value: true },
  ],
  [
    ...named,
    { type: pkcs11js.CKA_SIGN, value: true },
    { type: pkcs11js.CKA_SENSITIVE, value: true },
    { type: pkcs11js.CKA_EXTRACTABLE, value: false },
  ],
);
library.C_Finalize();
