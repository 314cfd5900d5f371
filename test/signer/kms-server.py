# AWS KMS for tests: moto, which hashes what it signs even if the request says that it is a digest. AWS does not.
import sys

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from moto.kms.utils import ECDSAPrivateKey
from moto.server import main


def sign(self, message, signing_algorithm):
    return self.private_key.sign(message, ec.ECDSA(utils.Prehashed(hashes.SHA256())))


ECDSAPrivateKey.sign = sign
main(sys.argv[1:])
