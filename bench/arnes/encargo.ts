import type { Agent } from 'undici'
import { cabecerasDe } from '../../server/webhooks/cabeceras.ts'
import { claveDe, firmar } from '../../server/webhooks/firma.ts'
import type { Comercio } from './entorno.ts'

// What the references send: the same POST as the service's, without what makes the service's careful (addresses that are
// checked, a limit to what is read, a connection of each endpoint's own).

/** An endpoint that is registered at the receiver. */
export interface Destino {
  comercio: Comercio
  webhook: string
  url: string
  /** Of its secret. */
  clave: Buffer
  /** A body of a guide of its own, with GUIA_EJEMPLO for the guide. */
  ejemplo: string
}

export interface Encargo {
  numero: number
  comercio_id: string
  modo: string
  webhook: string
  guia_id: string
  secuencia: number
  evento: string
  url: string
  /** In base64. */
  clave: string
  cuerpo: string
}

/** Milliseconds of a clock that all processes of a machine share. */
export const ahora = () => Number(process.hrtime.bigint()) / 1e6

/** Signs and sends; rejects when the answer isn't 2xx. */
export async function enviar(agente: Agent, { evento, url, clave, cuerpo }: Encargo) {
  const inicio = performance.now()
  const iniciado_en = new Date()
  const firma = firmar(evento, Math.floor(iniciado_en.getTime() / 1000), cuerpo, [
    claveDe(Buffer.from(clave, 'base64')),
  ])
  const { origin, pathname: path } = new URL(url)
  const respuesta = await agente.request({ origin, path, method: 'POST', headers: cabecerasDe(firma), body: cuerpo })
  const primer_byte_ms = performance.now() - inicio
  const texto = await respuesta.body.text()
  const { statusCode: status, headers: cabeceras } = respuesta
  if (status < 200 || status >= 300) throw new Error(`the receiver answered ${status}`)
  return { iniciado_en, status, cabeceras, cuerpo: texto, primer_byte_ms, total_ms: performance.now() - inicio }
}
