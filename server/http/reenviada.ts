import type { IncomingMessage } from 'node:http'

/** The headers by which proxies, tunnels and content networks say for whom they ask; docs/operacion.md lists them. */
const DE_PROXY =
  /^(?:forwarded|via|client-ip|true-client-ip|cdn-loop|x-(?:forwarded|real-ip|client-ip|cluster-client-ip|proxyuser-ip|original-|envoy-|azure-|arr-|amzn-trace-id|cloud-trace-context|appengine-)|cf-|fly-|fastly-|akamai-)/

/**
 * Reports whether something stands between the client and the service: a header says so, or the request is HTTP/1.0, which
 * nginx sends unless told otherwise. A proxy that adds no header and speaks HTTP/1.1 can't be told from a client.
 */
export const esReenviada = ({ headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean =>
  httpVersion === '1.0' || Object.keys(headers).some((nombre) => DE_PROXY.test(nombre))
