import { isDeepStrictEqual } from 'node:util'
import { escribirCsv, leerCsv } from '@guias/sdk/hoja'
import { type FuzzTarget, requireHolds } from '../target.ts'

/** The rows of a file that comes in such pieces, or why it has none. */
async function read(chunks: Iterable<string>): Promise<string[][] | string> {
  const yieldChunks = async function* () {
    yield* chunks
  }
  try {
    return await Array.fromAsync(leerCsv(yieldChunks()))
  } catch (error) {
    if (error instanceof SyntaxError) return error.message
    throw error
  }
}

/** In whatever pieces a file comes, it has the same rows; and rows that are written are the same when they are read. */
export const target: FuzzTarget = {
  seeds: [
    'telefono,departamento,municipio\r\n+50255551234,Guatemala,Mixco\r\n',
    'telefono;departamento\n"55551234";"Sacatepéquez ""La Antigua"""\n',
    '\ufefftelefono\tdepartamento\n55551234\tPetén\n\n',
    '"a\nb",c\r1,"2\r\n3"\r',
    'uno\r\n""\r\n" "\r\ndos',
  ],
  words: [
    '"',
    '""',
    '","',
    ',',
    ';',
    '\t',
    '\r',
    '\n',
    '\r\n',
    '\n\n',
    '\ufeff',
    ' ',
    '"\n"',
    ',,',
    ';;;',
    '=1+1',
    '😀',
  ],
  async probar(input) {
    const text = input.toString('utf8')
    const rows = await read([text])
    const middle = input.length % (text.length + 1)
    for (const chunks of [text.split(''), [text.slice(0, middle), text.slice(middle)], ['', text]])
      requireHolds(isDeepStrictEqual(await read(chunks), rows), 'it has the same rows in whatever pieces it comes')
    if (typeof rows === 'string') return
    const writtenText = rows.map((row) => escribirCsv(row)).join('')
    requireHolds(isDeepStrictEqual(await read([writtenText]), rows), 'what is written is what is read')
  },
}
