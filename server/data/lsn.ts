/** Position in PostgreSQL's write-ahead log (WAL), in bytes. */
export type Lsn = bigint

/** Reads a position such as `16/B374D848`. */
export function readLsn(text: string): Lsn {
  const [high = '', low = ''] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}
