import { describe, expect, it } from 'vitest'
import { createDeliveredGuia } from '../archivos/images.ts'
import { buildGuia, hasta } from '../factories.ts'
import { documentsComercio, useDocuments } from './documents.ts'

const { environment, withoutWorkers: sinNadie, conPdf } = useDocuments()

describe('POST /verificar/{guia}/comprobar', () => {
  const comprobar = (guia: string, huella: string, ip = '198.51.100.1') =>
    environment.request('POST', `/verificar/${guia}/comprobar`, {
      cuerpo: { sha256: huella },
      cabeceras: { 'X-Forwarded-For': ip },
    })

  it('shows the manifest only to a person who holds the PDF', async () => {
    const { guia } = await createDeliveredGuia(environment, documentsComercio)
    const otra = await createDeliveredGuia(environment, documentsComercio)
    const { pdf, manifiesto, fotos } = await conPdf(guia)
    const buena = await comprobar(guia, pdf.sha256)
    expect([buena.status, buena.cuerpo]).toEqual([200, { guia, resultado: 'autentica', manifiesto }])
    expect((await comprobar(guia.toLowerCase(), pdf.sha256.toUpperCase())).cuerpo.resultado).toBe('autentica')
    const nada = { guia, resultado: 'no_coincide', manifiesto: null }
    for (const mala of [(await conPdf(otra.guia)).pdf.sha256, fotos[0]!.sha256, '0'.repeat(64)])
      expect((await comprobar(guia, mala)).cuerpo).toEqual(nada)
    for (const mal of ['', 'x'.repeat(64), `${pdf.sha256}0`]) expect((await comprobar(guia, mal)).status).toBe(422)
    for (const ninguna of ['000000000000', 'nada'])
      expect([ninguna, (await comprobar(ninguna, pdf.sha256)).cuerpo.codigo]).toEqual([ninguna, 'guia_desconocida'])
  })

  it('says when there is nothing to compare with, yet or at all', async () => {
    const { guia } = await documentsComercio.api.guias.crear(buildGuia())
    expect((await comprobar(guia, '0'.repeat(64))).cuerpo).toEqual({ guia, resultado: 'sin_prueba', manifiesto: null })
    const dueno = await sinNadie.nuevoComercio()
    const pendiente = await createDeliveredGuia(sinNadie, dueno)
    const { cuerpo } = await sinNadie.request('POST', `/verificar/${pendiente.guia}/comprobar`, {
      cuerpo: { sha256: '0'.repeat(64) },
    })
    expect(cuerpo).toEqual({ guia: pendiente.guia, resultado: 'pendiente', manifiesto: null })
  })

  it('can’t be searched through', async () => {
    const { guia } = await documentsComercio.api.guias.crear(buildGuia())
    // An answer of a service that is too busy (503) was admitted, too.
    const cuantas = async (pedir: () => Promise<{ status: number }>, n: number) =>
      (await Promise.all(Array.from({ length: n }, pedir))).filter(({ status }) => status !== 429).length
    const preguntar = () => comprobar(guia, '0'.repeat(64), '198.51.100.9')
    const inicio = performance.now()
    expect(await cuantas(preguntar, 120)).toBe(120)
    const demas = await cuantas(preguntar, 60)
    // The page counts with it.
    const pagina = () =>
      fetch(`${environment.url}/verificar/${guia}`, { headers: { 'X-Forwarded-For': '198.51.100.9' } })
    const vistas = await cuantas(pagina, 60)
    // As many again in each further minute, however slow the machine is.
    expect(demas + vistas).toBeLessThanOrEqual(Math.ceil((performance.now() - inicio) / 500))
    const negada = await hasta(async () => {
      const una = await preguntar()
      return una.status === 429 && una
    })
    expect([negada.cuerpo.codigo, negada.cabeceras.get('retry-after')]).toEqual(['demasiadas_solicitudes', '1'])
    expect((await comprobar(guia, '0'.repeat(64), '198.51.100.10')).status).toBe(200)
  })
})
