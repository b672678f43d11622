import { ErrorAbortado, ErrorNoEncontrado, ErrorRespuesta, type Guia } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { readDocument } from '../../server/api/contract/contract.ts'
import { fault, GUIA, json, respondProblema, text, useFakeServer } from './server.ts'

const { client, respondWith: answer, capturedRequests: received } = useFakeServer()
const CODIGO = '7K3M9QX2A1B4'
const SHORT_INTERVAL = { intervalo: 1 }

const answerIn = (estado: string, etag?: string) => json(200, { ...GUIA, estado }, etag ? { ETag: etag } : {})
const same = (etag: string) => text(304, '', { ETag: etag })
const estados = async (guias: AsyncIterable<Guia>) => {
  const seen: string[] = []
  for await (const { estado } of guias) seen.push(estado)
  return seen
}
const conditions = () => received.map(({ headers }) => headers['if-none-match'])

describe('guias.seguir', () => {
  it('gives a guide whenever it changed, and asks for no more of it', async () => {
    answer(
      answerIn('aceptado', '"a"'),
      same('"a"'),
      same('"a"'),
      answerIn('en_ruta', '"b"'),
      same('"b"'),
      answerIn('entregado'),
    )
    const followedStates = client().guias.seguir(CODIGO, { ...SHORT_INTERVAL, limite: 3, cabeceras: { 'X-Mia': '1' } })
    expect(await estados(followedStates)).toEqual(['aceptado', 'en_ruta', 'entregado'])
    expect(conditions()).toEqual([undefined, '"a"', '"a"', '"a"', '"b"', '"b"'])
    expect(new Set(received.map(({ path, headers }) => [path, headers['x-mia']].join()))).toEqual(
      new Set([`/api/v1/guias/${CODIGO}?limite=3,1`]),
    )
  })

  it('gives the same again where a proxy took the tag away', async () => {
    answer(answerIn('aceptado'), answerIn('aceptado'), answerIn('cancelado'))
    expect(await estados(client().guias.seguir(CODIGO, SHORT_INTERVAL))).toEqual(['aceptado', 'aceptado', 'cancelado'])
    expect(conditions()).toEqual([undefined, undefined, undefined])
  })

  it('ends in the states that the contract calls final, and in no other', async () => {
    const { enum: all, 'x-transiciones': rules } = readDocument().components.schemas.Estado as {
      enum: string[]
      'x-transiciones': { finales: string[] }
    }
    for (const estado of all) {
      answer(answerIn(estado, `"${estado}"`), answerIn('devuelto'))
      const seen = await estados(client().guias.seguir(CODIGO, SHORT_INTERVAL))
      expect(seen).toEqual(rules.finales.includes(estado) ? [estado] : [estado, 'devuelto'])
    }
  })

  it('fails as any request does, and stops when it is told to', async () => {
    answer(respondProblema(404, 'guia_desconocida'))
    expect(await fault(client().guias.seguir(CODIGO, SHORT_INTERVAL).next())).toBeInstanceOf(ErrorNoEncontrado)
    // Nobody asked whether anything changed.
    answer(same('"a"'))
    expect(await fault(client().guias.obtener(CODIGO))).toBeInstanceOf(ErrorRespuesta)
    answer(answerIn('aceptado', '"a"'))
    const cut = new AbortController()
    const followedStates = client().guias.seguir(CODIGO, { intervalo: 60_000, signal: cut.signal })
    await followedStates.next()
    const next = fault(followedStates.next())
    cut.abort()
    expect(await next).toBeInstanceOf(ErrorAbortado)
    for (const intervalo of [0, -1, Number.NaN])
      expect((await fault(client().guias.seguir(CODIGO, { intervalo }).next())).message).toContain('intervalo')
  })
})
