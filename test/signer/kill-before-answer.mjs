// Loaded into a signer by a test: it dies by kill -9 when its decision is on disk, and before the answer leaves.
import { ServerResponse } from 'node:http';

ServerResponse.prototype.writeHead = () => process.kill(process.pid, 'SIGKILL');
