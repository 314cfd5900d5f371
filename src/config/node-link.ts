import { isIP } from 'node:net';

/** Where a node listens, and where the others reach it. */
export type NodeAddress = { readonly host: string; readonly port: number };

const HOST = /^[a-zA-Z0-9]([a-zA-Z0-9.-]{0,251}[a-zA-Z0-9])?$/;
const ADDRESS = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]+):([0-9]{1,5})$/;

/** Other nodes cannot connect to an address that means all addresses of a machine. */
const isEveryAddress = (host: string): boolean => host === '0.0.0.0' || /^[0:]+$/.test(host);

/** Undefined if it is off; a text says what is wrong. */
export function readNodeLink(value: string | undefined, host: string): NodeAddress | undefined | string {
  if (value === undefined || value === '' || value === 'off') return undefined;
  if (value === 'on') {
    if (!isEveryAddress(host)) return { host, port: 0 };
    return `FERRY_NODE_LINK=on listens on HOST, and other nodes cannot reach "${host}": set FERRY_NODE_LINK to an address of this machine and a port, such as 10.0.0.5:7070.`;
  }
  const [, named, digits] = ADDRESS.exec(value) ?? [];
  const linkHost = named?.replace(/^\[|\]$/g, '') ?? '';
  const port = Number(digits);
  const isHost = isIP(linkHost) !== 0 || HOST.test(linkHost);
  if (isHost && !isEveryAddress(linkHost) && port <= 65_535) return { host: linkHost, port };
  return `FERRY_NODE_LINK must be on, off, or an address of this machine that other nodes reach and a port, such as 10.0.0.5:7070, not "${value}".`;
}
