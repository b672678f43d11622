import type { Db, Statement } from './db.ts'

/**
 * Reads rows by the digests of tokens. Several digests have a statement of their own, because PostgreSQL plans a
 * statement with a list anew each time.
 * @param huellas digests in base64
 * @returns the rows by digest in base64
 */
export async function readByDigest<Fila extends { hash: Uint8Array }>(
  { query }: Pick<Db, 'query'>,
  one: Statement<{ hash: Buffer }, Fila>,
  several: Statement<{ hashes: readonly Buffer[] }, Fila>,
  huellas: readonly string[],
): Promise<ReadonlyMap<string, Fila>> {
  const hashes = huellas.map((huella) => Buffer.from(huella, 'base64'))
  const [hash] = hashes
  const rows = hashes.length === 1 ? await query(one, { hash: hash! }) : await query(several, { hashes })
  return new Map(rows.map((fila) => [Buffer.from(fila.hash).toString('base64'), fila]))
}
