import type { GuiaIndividual } from '@guias/sdk'
import { beforeAll } from 'vitest'
import { type Comercio, usarEntorno } from '../entorno.ts'
import { unaGuia } from '../fabricas.ts'

/** The merchant of a file's tests, and a guide of his. */
export let comercioDeEtiquetas: Comercio
export let guia: string

export const bajarEtiquetas = async (url: string, init?: RequestInit) => {
  const respuesta = await fetch(url, init)
  return { status: respuesta.status, cabeceras: respuesta.headers, pdf: Buffer.from(await respuesta.arrayBuffer()) }
}
/** An answer of the link without what differs in every answer. */
export const negada = async (url: string) => {
  const { status, pdf } = await bajarEtiquetas(url)
  const { id_solicitud: _1, ...resto } = JSON.parse(pdf.toString())
  return { status, ...resto }
}

export const nueva = async (cambios: Partial<GuiaIndividual> = {}, de = comercioDeEtiquetas) =>
  (await de.api.guias.crear(unaGuia(cambios))).guia

export function usarEtiquetas() {
  const entorno = usarEntorno({}, () => ({ BRAND_NAME: 'Envíos del Altiplano' }))
  beforeAll(async () => {
    comercioDeEtiquetas = await entorno.nuevoComercio()
    guia = await nueva()
  })
  return entorno
}
