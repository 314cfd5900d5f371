/** Why the signer cannot start or a command cannot be carried out, as a sentence for operators. It never contains a secret. */
export class SignerError extends Error {}
