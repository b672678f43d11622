import type { ArchivoDePrueba, PruebaDeEntrega } from '@guias/sdk'
import { beforeAll } from 'vitest'
import { type Comercio, useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'

/** The merchant of a file's tests. */
export let documentsComercio: Comercio
type ConPdf = PruebaDeEntrega & { pdf: ArchivoDePrueba; manifiesto: string; sal: string }

/** A service that makes documents of deliveries, behind a proxy, and one that makes none. */
export function useDocuments() {
  const environment = useEnvironment({}, () => ({ TRUST_PROXY: '1', BRAND_NAME: 'Envíos del Altiplano' }))
  /** Where nobody makes documents but the test. */
  const withoutWorkers = useEnvironment({}, () => ({ WORKERS: '0' }))
  beforeAll(async () => {
    documentsComercio = await environment.createComercio()
  })
  const waitForPdf = (guia: string, owner = documentsComercio) =>
    waitUntil(async () => {
      const prueba = await owner.api.guias.pruebaEntrega(guia)
      return prueba.pdf !== null && (prueba as ConPdf)
    })
  const jwks = async () => (await environment.request('GET', '/.well-known/jwks.json')).body

  return { environment, withoutWorkers, waitForPdf, jwks }
}
