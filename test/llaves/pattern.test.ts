// What is published for secret scanners: a pattern, and a checksum that tells keys from what only looks like one.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { newLlave } from '../../server/domain/identities/llave.ts'
import { ROOT } from '../../server/platform/root.ts'

const read = (file: string) => readFileSync(new URL(file, ROOT), 'utf8')
const publishedContracts = ['SECURITY.md', 'openapi/comercios/guia/02-autenticacion.md'].map(
  (file) => /`(guia_\([^`]+)`/.exec(read(file))![1]!,
)

/** As the documents say it, without a line of ours. */
function computePublishedChecksum(text: string): string {
  const bytes = createHash('sha256').update(text.slice(0, -6)).digest().subarray(0, 6)
  return [...bytes].map((byte) => '0123456789ABCDEFGHJKMNPQRSTVWXYZ'[byte % 32]).join('')
}

it('finds every kind of key, whole, in the middle of a text', () => {
  expect(new Set(publishedContracts).size).toBe(1)
  for (const tipo of ['live', 'test', 'oper'] as const) {
    const { llave } = newLlave(tipo)
    const [hallada] = new RegExp(publishedContracts[0]!).exec(`LLAVE="${llave}" # de la tienda`) ?? []
    expect([hallada, computePublishedChecksum(llave)]).toEqual([llave, llave.slice(-6)])
  }
})
