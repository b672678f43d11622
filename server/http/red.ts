/** The network of an address, whose requests are counted together: an IPv6 subscriber has a whole /64 to call from. */
export function redDe(ip: string): string {
  if (ip.includes('.')) return ip
  // `::` stands for as many zeros as are missing, and the first four groups may be among them.
  const [antes = '', despues] = ip.split('::').map((parte) => parte.split(':').filter(Boolean))
  const ceros = despues ? Math.max(0, 8 - antes.length - despues.length) : 0
  return [...antes, ...Array(ceros).fill('0'), ...(despues ?? [])].slice(0, 4).join(':')
}
