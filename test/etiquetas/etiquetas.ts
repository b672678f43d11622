import type { GuiaIndividual } from '@guias/sdk'
import { beforeAll } from 'vitest'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'

/** The merchant of a file's tests, and a guide of his. */
export let etiquetasComercio: Comercio
export let guia: string

export const downloadEtiquetas = async (url: string, init?: RequestInit) => {
  const response = await fetch(url, init)
  return { status: response.status, headers: response.headers, pdf: Buffer.from(await response.arrayBuffer()) }
}
/** An answer of the link without what differs in every answer. */
export const fetchRefusal = async (url: string) => {
  const { status, pdf } = await downloadEtiquetas(url)
  const { id_solicitud: _1, ...problemFields } = JSON.parse(pdf.toString())
  return { status, ...problemFields }
}

export const createGuiaForEtiqueta = async (cambios: Partial<GuiaIndividual> = {}, owner = etiquetasComercio) =>
  (await owner.api.guias.crear(buildGuia(cambios))).guia

export function useEtiquetas() {
  const environment = useEnvironment({}, () => ({ BRAND_NAME: 'Envíos del Altiplano' }))
  beforeAll(async () => {
    etiquetasComercio = await environment.createComercio()
    guia = await createGuiaForEtiqueta()
  })
  return environment
}
