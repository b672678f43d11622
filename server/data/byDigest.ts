import type { Db, Statement } from './db.ts'

/**
 * Reads rows by the digests of tokens. Several digests have a statement of their own, because PostgreSQL plans a
 * statement with a list anew each time.
 * @param digests digests in base64
 * @returns the rows by digest in base64
 */
export async function readByDigest<Row extends { hash: Uint8Array }>(
  { query }: Pick<Db, 'query'>,
  one: Statement<{ hash: Buffer }, Row>,
  several: Statement<{ hashes: readonly Buffer[] }, Row>,
  digests: readonly string[],
): Promise<ReadonlyMap<string, Row>> {
  const hashes = digests.map((digest) => Buffer.from(digest, 'base64'))
  const [hash] = hashes
  const rows = hashes.length === 1 ? await query(one, { hash: hash! }) : await query(several, { hashes })
  return new Map(rows.map((row) => [Buffer.from(row.hash).toString('base64'), row]))
}
