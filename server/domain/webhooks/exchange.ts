import type { DepsDeTrabajo } from '../deps.ts'
import { type Contenido, cuerpoDe } from './entrega.ts'
import { cabecerasDe } from './headers.ts'
import { type Receptor, vigentes } from './receptor.ts'
import type { Respuesta } from './response.ts'
import type { Resultado } from './settleAttempts.ts'
import { firmar } from './signature.ts'
import { politicaDe } from './webhook.ts'

/** Makes one attempt at a delivery: signs its body, sends the request and returns the result. */
export async function intercambiar(
  { reloj, nuevoId, enviador, destinos }: Pick<DepsDeTrabajo, 'reloj' | 'nuevoId' | 'enviador' | 'destinos'>,
  receptor: Receptor,
  contenido: Contenido,
): Promise<Resultado> {
  const { entrega } = contenido
  const { webhook, modo, url, direccion } = receptor
  const iniciado_en = reloj()
  const { secretos, claves } = vigentes(receptor, iniciado_en)
  const cuerpo = cuerpoDe(contenido)
  const respuesta = await enviador.enviar({
    canal: webhook,
    url,
    direccion,
    cabeceras: cabecerasDe(firmar(entrega.evento, Math.floor(iniciado_en.getTime() / 1000), cuerpo, claves)),
    cuerpo,
    loopback: politicaDe(destinos, modo).loopback,
  })
  return { id: nuevoId().id, entrega, url, secretos, iniciado_en, respuesta: visible(url, respuesta) }
}

/**
 * Removes the headers and the body of a response from this machine. Only receivers on this machine may use http, and a
 * merchant must not read local servers through this service.
 */
function visible(url: string, respuesta: Respuesta): Respuesta {
  if (!url.startsWith('http:') || respuesta.status === null) return respuesta
  const { cuerpo, cuerpo_truncado } = respuesta
  return { ...respuesta, cabeceras: {}, cuerpo: '', cuerpo_truncado: cuerpo_truncado || cuerpo !== '' }
}
