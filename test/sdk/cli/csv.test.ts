import { describe, expect, it } from 'vitest'
import { escribirCsv, leerCsv } from '../../../sdk/src/csv.ts'

const leer = (...trozos: string[]) =>
  Array.fromAsync(
    leerCsv(
      (async function* () {
        yield* trozos
      })(),
    ),
  )

describe('CSV', () => {
  it('knows the separator by a first line that goes on within quotes', async () => {
    const texto = 'uno,"dos;;;\ntres",cuatro\n1,2,3\n'
    const filas = [
      ['uno', 'dos;;;\ntres', 'cuatro'],
      ['1', '2', '3'],
    ]
    expect(await leer(texto)).toEqual(filas)
    expect(await leer(...texto)).toEqual(filas)
  })

  it('has one mark at its beginning, in whatever pieces it comes', async () => {
    for (const trozos of [['\ufeff\ufeffa\n'], ['\ufeff', '\ufeffa\n'], ['', '\ufeff', '', '\ufeff', 'a\n']])
      expect(await leer(...trozos)).toEqual([['\ufeffa']])
  })

  it.each([[['a\tb']], [['\ufeffa']], [['a;b', 'c,d', '"e"', 'f\r\ng']], [[' ', '']]])(
    '%j is read as it is written',
    async (fila) => expect(await leer(escribirCsv(fila))).toEqual([fila]),
  )

  it('gives up on quotes that are never closed', async () => {
    await expect(leer('a,b\n"c', ',d\n')).rejects.toThrow(/no se cierran/)
  })
})
