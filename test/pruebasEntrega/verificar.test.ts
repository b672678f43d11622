import { describe, expect, it } from 'vitest'
import { createDeliveredGuia } from '../archivos/images.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { documentsComercio, useDocuments } from './documents.ts'

const { environment, withoutWorkers, waitForPdf } = useDocuments()

describe('POST /verificar/{guia}/comprobar', () => {
  const comprobar = (guia: string, digest: string, ip = '198.51.100.1') =>
    environment.request('POST', `/verificar/${guia}/comprobar`, {
      body: { sha256: digest },
      headers: { 'X-Forwarded-For': ip },
    })

  it('shows the manifest only to a person who holds the PDF', async () => {
    const { guia } = await createDeliveredGuia(environment, documentsComercio)
    const other = await createDeliveredGuia(environment, documentsComercio)
    const { pdf, manifiesto, fotos } = await waitForPdf(guia)
    const good = await comprobar(guia, pdf.sha256)
    expect([good.status, good.body]).toEqual([200, { guia, resultado: 'autentica', manifiesto }])
    expect((await comprobar(guia.toLowerCase(), pdf.sha256.toUpperCase())).body.resultado).toBe('autentica')
    const nothing = { guia, resultado: 'no_coincide', manifiesto: null }
    for (const bad of [(await waitForPdf(other.guia)).pdf.sha256, fotos[0]!.sha256, '0'.repeat(64)])
      expect((await comprobar(guia, bad)).body).toEqual(nothing)
    for (const bad of ['', 'x'.repeat(64), `${pdf.sha256}0`]) expect((await comprobar(guia, bad)).status).toBe(422)
    for (const ninguna of ['000000000000', 'nada'])
      expect([ninguna, (await comprobar(ninguna, pdf.sha256)).body.codigo]).toEqual([ninguna, 'guia_desconocida'])
  })

  it('says when there is nothing to compare with, yet or at all', async () => {
    const { guia } = await documentsComercio.api.guias.crear(buildGuia())
    expect((await comprobar(guia, '0'.repeat(64))).body).toEqual({ guia, resultado: 'sin_prueba', manifiesto: null })
    const owner = await withoutWorkers.createComercio()
    const pending = await createDeliveredGuia(withoutWorkers, owner)
    const { body } = await withoutWorkers.request('POST', `/verificar/${pending.guia}/comprobar`, {
      body: { sha256: '0'.repeat(64) },
    })
    expect(body).toEqual({ guia: pending.guia, resultado: 'pendiente', manifiesto: null })
  })

  it('can’t be searched through', async () => {
    const { guia } = await documentsComercio.api.guias.crear(buildGuia())
    // An answer of a service that is too busy (503) was admitted, too.
    const count = async (request: () => Promise<{ status: number }>, n: number) =>
      (await Promise.all(Array.from({ length: n }, request))).filter(({ status }) => status !== 429).length
    const ask = () => comprobar(guia, '0'.repeat(64), '198.51.100.9')
    const start = performance.now()
    expect(await count(ask, 120)).toBe(120)
    const remainder = await count(ask, 60)
    // The page counts with it.
    const page = () => fetch(`${environment.url}/verificar/${guia}`, { headers: { 'X-Forwarded-For': '198.51.100.9' } })
    const seen = await count(page, 60)
    // As many again in each further minute, however slow the machine is.
    expect(remainder + seen).toBeLessThanOrEqual(Math.ceil((performance.now() - start) / 500))
    const refusal = await waitUntil(async () => {
      const one = await ask()
      return one.status === 429 && one
    })
    expect([refusal.body.codigo, refusal.headers.get('retry-after')]).toEqual(['demasiadas_solicitudes', '1'])
    expect((await comprobar(guia, '0'.repeat(64), '198.51.100.10')).status).toBe(200)
  })
})
