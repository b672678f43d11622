import { leerPolitica } from '../comercios/comercio.ts'
import type { Deps } from '../deps.ts'
import { darPaso, type PasoDeGuia } from '../eventos/evento.ts'
import { registrarLectura } from '../eventos/registrar.ts'
import { type FilaGuia, presentar } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { anotarIntento, entregar } from '../pruebasEntrega/prueba.ts'
import { evidenciaDeMuestra, fotoDeMuestra } from './muestra.ts'
import { exigirModoTest } from './simulador.ts'

const REMEDIO = 'Confírmela antes con confirmar-ubicacion, del simulador.'

export const simularAvance: Handler<'simularAvance'> = async ({ path, body, identidad }, deps) => {
  exigirModoTest(identidad)
  const quien = { ambito: identidad, autor: identidad.comercio, remedio: REMEDIO, conPrueba: true }
  const { guia } = await registrarLectura(deps, quien, path.guia, body, (leida, paso) => dar(deps, leida, paso))
  return { status: 200, body: presentar(guia) }
}

/**
 * Writes an event. A delivery and a failed attempt get a sample proof in place of the proof that a courier would bring.
 */
async function dar(deps: Deps, guia: FilaGuia, paso: PasoDeGuia) {
  if (paso.estado === 'entregado') {
    const politica = await leerPolitica(deps.db, guia.comercio_id)
    const evidencia = await evidenciaDeMuestra(deps, guia, politica, paso.ocurrido_en)
    const { lat = null, lng = null } = evidencia
    return entregar(deps, guia, { ...paso, lat, lng }, evidencia, { politica, pedida: politica })
  }
  if (paso.estado === 'intento_fallido')
    return anotarIntento(deps, guia, paso, [await fotoDeMuestra(deps, guia, paso.ocurrido_en)])
  return darPaso(deps, guia, paso)
}
