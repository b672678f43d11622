import { ErrorAbortado, ErrorNoEncontrado, ErrorRespuesta, type Guia } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { readDocument } from '../../server/api/contract/contract.ts'
import { falla, GUIA, json, respondProblema, texto, useFakeServer } from './server.ts'

const { client: cliente, respondWith: contestar, capturedRequests: recibidas } = useFakeServer()
const CODIGO = '7K3M9QX2A1B4'
const YA = { intervalo: 1 }

const en = (estado: string, etag?: string) => json(200, { ...GUIA, estado }, etag ? { ETag: etag } : {})
const igual = (etag: string) => texto(304, '', { ETag: etag })
const estados = async (guias: AsyncIterable<Guia>) => {
  const vistos: string[] = []
  for await (const { estado } of guias) vistos.push(estado)
  return vistos
}
const condiciones = () => recibidas.map(({ cabeceras }) => cabeceras['if-none-match'])

describe('guias.seguir', () => {
  it('gives a guide whenever it changed, and asks for no more of it', async () => {
    contestar(en('aceptado', '"a"'), igual('"a"'), igual('"a"'), en('en_ruta', '"b"'), igual('"b"'), en('entregado'))
    const seguidas = cliente().guias.seguir(CODIGO, { ...YA, limite: 3, cabeceras: { 'X-Mia': '1' } })
    expect(await estados(seguidas)).toEqual(['aceptado', 'en_ruta', 'entregado'])
    expect(condiciones()).toEqual([undefined, '"a"', '"a"', '"a"', '"b"', '"b"'])
    expect(new Set(recibidas.map(({ path: ruta, cabeceras }) => [ruta, cabeceras['x-mia']].join()))).toEqual(
      new Set([`/api/v1/guias/${CODIGO}?limite=3,1`]),
    )
  })

  it('gives the same again where a proxy took the tag away', async () => {
    contestar(en('aceptado'), en('aceptado'), en('cancelado'))
    expect(await estados(cliente().guias.seguir(CODIGO, YA))).toEqual(['aceptado', 'aceptado', 'cancelado'])
    expect(condiciones()).toEqual([undefined, undefined, undefined])
  })

  it('ends in the states that the contract calls final, and in no other', async () => {
    const { enum: todos, 'x-transiciones': reglas } = readDocument().components.schemas.Estado as {
      enum: string[]
      'x-transiciones': { finales: string[] }
    }
    for (const estado of todos) {
      contestar(en(estado, `"${estado}"`), en('devuelto'))
      const vistos = await estados(cliente().guias.seguir(CODIGO, YA))
      expect(vistos).toEqual(reglas.finales.includes(estado) ? [estado] : [estado, 'devuelto'])
    }
  })

  it('fails as any request does, and stops when it is told to', async () => {
    contestar(respondProblema(404, 'guia_desconocida'))
    expect(await falla(cliente().guias.seguir(CODIGO, YA).next())).toBeInstanceOf(ErrorNoEncontrado)
    // Nobody asked whether anything changed.
    contestar(igual('"a"'))
    expect(await falla(cliente().guias.obtener(CODIGO))).toBeInstanceOf(ErrorRespuesta)
    contestar(en('aceptado', '"a"'))
    const corte = new AbortController()
    const seguidas = cliente().guias.seguir(CODIGO, { intervalo: 60_000, signal: corte.signal })
    await seguidas.next()
    const siguiente = falla(seguidas.next())
    corte.abort()
    expect(await siguiente).toBeInstanceOf(ErrorAbortado)
    for (const intervalo of [0, -1, Number.NaN])
      expect((await falla(cliente().guias.seguir(CODIGO, { intervalo }).next())).message).toContain('intervalo')
  })
})
