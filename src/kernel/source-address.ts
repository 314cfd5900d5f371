import { isIPv4, isIPv6 } from 'node:net';

/**
 * The address that a request comes from, and ranges of addresses in CIDR notation. Behind proxies that the operator trusts,
 * it is the address that the nearest of them reports; a header from anybody else is ignored, because anybody can write it.
 */
export type AddressRanges = {
  has(address: string): boolean;
};

/** A socket, of which only the address of the other end matters. */
export type Connection = { readonly remoteAddress?: string | undefined };

/** The header X-Forwarded-For, as Node has it. */
export type ForwardedFor = string | readonly string[] | undefined;

/** Undefined if the address is not known: the connection is closed already, or is a local one without an address. */
export type SourceOf = (connection: Connection | undefined, forwardedFor: ForwardedFor) => string | undefined;

const V4_BYTES = 4;
/** ::ffff:0:0/96, the form in which a socket that listens on `::` reports an IPv4 address. */
const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
/** One home or server gets a whole /64: its last 64 bits cost an attacker nothing. */
const SITE_BYTES = 8;

const v4Bytes = (address: string): number[] => address.split('.').map(Number);

function groupBytes(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return v4Bytes(group);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** 4 or 16 bytes; undefined if it is not an address. An IPv4 address inside an IPv6 one counts as what it is. */
function bytesOf(address: string): number[] | undefined {
  if (isIPv4(address)) return v4Bytes(address);
  // The zone (`%eth0`) is the name of an interface of this machine.
  const [plain = ''] = address.split('%', 1);
  if (!isIPv6(plain)) return undefined;
  const [head = '', tail] = plain.split('::');
  const [left, right] = [groupBytes(head), groupBytes(tail ?? '')];
  const zeros = Array.from({ length: 16 - left.length - right.length }, () => 0);
  const bytes = [...left, ...zeros, ...right];
  return MAPPED.every((byte, index) => bytes[index] === byte) ? bytes.slice(MAPPED.length) : bytes;
}

/** The first `length` bits; all bits after them are zero. */
function prefixOf(bytes: readonly number[], length: number): number[] {
  return bytes.map((byte, index) => {
    const kept = Math.min(8, Math.max(0, length - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
}

type Range = { readonly bytes: readonly number[]; readonly length: number };

function rangeOf(text: string): Range | undefined {
  const [, address, suffix] = /^([^/]+)(?:\/([0-9]{1,3}))?$/.exec(text) ?? [];
  const bytes = address === undefined ? undefined : bytesOf(address);
  if (bytes === undefined) return undefined;
  const length = suffix === undefined ? bytes.length * 8 : Number(suffix);
  if (length > bytes.length * 8) return undefined;
  const isNetwork = prefixOf(bytes, length).every((byte, index) => byte === bytes[index]);
  return isNetwork ? { bytes, length } : undefined;
}

/** `192.0.2.0/24`, `2001:db8::/32` or one address. Bits after the prefix must be zero: 10.1.2.3/8 is probably a mistake. */
export function isAddressRange(text: string): boolean {
  return rangeOf(text) !== undefined;
}

/** Every text must be a range, see `isAddressRange`. */
export function addressRanges(texts: readonly string[]): AddressRanges {
  const ranges = texts.map((text) => {
    const range = rangeOf(text);
    if (range === undefined) throw new Error(`${text} is not an address range`);
    return range;
  });
  return {
    has(address) {
      const bytes = bytesOf(address);
      if (bytes === undefined) return false;
      return ranges.some(
        (range) =>
          range.bytes.length === bytes.length &&
          prefixOf(bytes, range.length).every((byte, index) => byte === range.bytes[index]),
      );
    },
  };
}

/** Without the port that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  return /^\[([^\]]+)\](?::[0-9]+)?$/.exec(entry)?.[1] ?? /^([0-9.]+):[0-9]+$/.exec(entry)?.[1] ?? entry;
}

/** The rightmost address of X-Forwarded-For that is not a trusted proxy: everything before it may be made up. */
export function createSourceOf(trustedProxies: readonly string[] = []): SourceOf {
  const trusted = addressRanges(trustedProxies);
  return (connection, forwardedFor) => {
    const peer = connection?.remoteAddress;
    if (peer === undefined || forwardedFor === undefined || !trusted.has(peer)) return peer;
    let source = peer;
    for (const entry of String(forwardedFor).split(',').reverse()) {
      const address = withoutPort(entry.trim());
      if (bytesOf(address) === undefined) return source;
      source = address;
      if (!trusted.has(source)) return source;
    }
    return source;
  };
}

/** What limits per source count by: an IPv4 address, or the /64 of an IPv6 one. */
export function sourceKey(address: string | undefined): string {
  const bytes = address === undefined ? undefined : bytesOf(address);
  if (bytes === undefined) return 'unknown';
  if (bytes.length === V4_BYTES) return bytes.join('.');
  return `${Buffer.from(bytes.slice(0, SITE_BYTES)).toString('hex')}/64`;
}
