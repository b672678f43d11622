import type { IncomingMessage } from 'node:http'

/**
 * Matches the headers in which proxies, tunnels and content delivery networks name the client.
 */
const PROXY_HEADERS =
  /^(?:forwarded|via|client-ip|true-client-ip|cdn-loop|x-(?:forwarded|real-ip|client-ip|cluster-client-ip|proxyuser-ip|original-|envoy-|azure-|arr-|amzn-trace-id|cloud-trace-context|appengine-)|cf-|fly-|fastly-|akamai-)/

/**
 * Reports whether a proxy stands between the client and the service. The signs are a header that {@link PROXY_HEADERS}
 * matches and HTTP/1.0, which nginx sends unless configured otherwise. A proxy that adds no header and speaks HTTP/1.1
 * is not detected.
 */
export const isForwarded = ({ headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean =>
  httpVersion === '1.0' || Object.keys(headers).some((name) => PROXY_HEADERS.test(name))
