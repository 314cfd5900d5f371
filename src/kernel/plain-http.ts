export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Whether what is sent to the URL leaves this machine without encryption. */
export function isPlainHttp(url: string | undefined): boolean {
  // The name of an issuer need not be a URL.
  if (url === undefined || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopback(hostname);
}
