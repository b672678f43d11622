/** Parts of a configuration that tell by which address, and behind how many proxies, clients reach the service. */
interface AccessSettings {
  publicUrl: string | undefined
  proxies: number
}

/** Reports whether a host, without a port, names this machine alone. */
export const isLoopbackHost = (host: string) => /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)

/** Lists the settings, as `NAME=value`, that mean that clients of other machines reach the service. */
export const exposure = ({ publicUrl, proxies }: AccessSettings): string[] => [
  ...(publicUrl !== undefined && !isLoopbackHost(URL.parse(publicUrl)?.hostname ?? '')
    ? [`PUBLIC_URL=${publicUrl}`]
    : []),
  ...(proxies > 0 ? [`TRUST_PROXY=${proxies}`] : []),
]

/** Returns a base address with `localhost` in place of a loopback IP address. */
export const byName = (base: string): string =>
  base.replace(/^(https?:\/\/)(?:127(?:\.\d{1,3}){3}|\[::1\])(?=[:/]|$)/, '$1localhost')
