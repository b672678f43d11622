import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { endianness } from 'node:os'
import ipaddr from 'ipaddr.js'

/**
 * Columns of proc_net_tcp(5): local and remote address, state, and the bytes sent that the peer has not acknowledged.
 */
const LINE = /^ *\d+: [\dA-F]+:([\dA-F]{4}) ([\dA-F]+:[\dA-F]{4}) 01 ([\dA-F]{8}):/gm

/**
 * Reads how many bytes of each established TCP connection wait in the kernel, by {@link keyOf}. Empty on systems
 * without `/proc/net/tcp`, which only Linux has.
 */
export function readKernelQueues(): Map<string, number> {
  const queues = new Map<string, number>()
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const [, port = '', remote = '', bytes = ''] of textOf(file).matchAll(LINE)) {
      if (bytes !== '00000000') queues.set(`${port} ${remote}`, Number.parseInt(bytes, 16))
    }
  }
  return queues
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

/** Key of a connection in {@link readKernelQueues}; undefined if the peer's address is no longer known. */
export function keyOf({ localPort, remoteAddress, remotePort }: Socket): string | undefined {
  if (localPort === undefined || remoteAddress === undefined || remotePort === undefined) return undefined
  return `${hex(localPort, 2)} ${hexOfAddress(remoteAddress)}:${hex(remotePort, 2)}`
}

const hex = (n: number, bytes: number) =>
  n
    .toString(16)
    .padStart(2 * bytes, '0')
    .toUpperCase()

/** Writes an address as the kernel prints it: as 32-bit words in the byte order of the machine. */
function hexOfAddress(address: string): string {
  const bytes = ipaddr.parse(address.split('%', 1)[0]!).toByteArray()
  const words = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.slice(4 * i, 4 * i + 4))
  const ordered = endianness() === 'LE' ? words.map((word) => word.toReversed()) : words
  return ordered
    .flat()
    .map((byte) => hex(byte, 1))
    .join('')
}
