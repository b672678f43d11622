import type { Query } from '../../data/db.ts'
import type { AvanceSimulado, MotivoSinFirma } from '../../generado/contrato/tipos/index.ts'
import { problemOfFaults } from '../../platform/errors.ts'
import { leerPolitica } from '../comercios/comercio.ts'
import type { Deps } from '../deps.ts'
import { darPasoCon, type PasoConConsecuencias } from '../eventos/evento.ts'
import { registrarLectura } from '../eventos/registrar.ts'
import { buscarGuia, type FilaGuia, presentar } from '../guias/guia.ts'
import { unaVez } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { anotarIntento, entregar } from '../pruebasEntrega/prueba.ts'
import { evidenciaDeMuestra, fotoDeMuestra } from './muestra.ts'
import { exigirModoTest } from './simulador.ts'

const REMEDIO = 'Confírmela antes con confirmar-ubicacion, del simulador.'

export const simularAvance: Handler<'simularAvance'> = async (entrada, deps) => {
  const { path, identidad } = entrada
  exigirModoTest(identidad)
  const { hecho: guia, headers } = await unaVez(deps, 'simularAvance', entrada, {
    async hacer(recordar) {
      const quien = { ambito: identidad, autor: identidad.comercio, remedio: REMEDIO, conPrueba: true }
      const { sin_firma, ...lectura } = entrada.body
      exigirEntrega(entrada.body)
      const { guia } = await registrarLectura(deps, quien, path.guia, lectura, (leida, paso) =>
        dar(deps, leida, paso, sin_firma, (consultar) => recordar(consultar, leida.guia)),
      )
      return guia
    },
    releer: (guia) => buscarGuia(deps.db, identidad, guia),
  })
  return { status: 200, headers, body: presentar(deps.ajustes, guia) }
}

/** Rejects a reason for a missing signature if the new state is not a delivery. */
function exigirEntrega({ estado, sin_firma }: AvanceSimulado) {
  if (sin_firma === undefined || estado === 'entregado') return
  const mensaje = 'solo va con el estado entregado; omítalo'
  throw problemOfFaults('validacion', [{ campo: '/sin_firma', codigo: 'incompatible', mensaje }])
}

/**
 * Writes an event. For a delivery or a failed attempt, adds a sample proof in place of the proof that a courier would
 * upload.
 */
async function dar(
  deps: Deps,
  guia: FilaGuia,
  paso: PasoConConsecuencias,
  sin_firma: MotivoSinFirma | undefined,
  alFinal: (consultar: Query) => Promise<void>,
) {
  if (paso.estado === 'entregado') {
    const politica = await leerPolitica(deps.db, guia.comercio_id)
    const evidencia = await evidenciaDeMuestra(deps, guia, politica, paso.ocurrido_en, sin_firma)
    const { lat = null, lng = null } = evidencia
    return entregar(deps, guia, { ...paso, lat, lng }, evidencia, { politica, pedida: politica }, alFinal)
  }
  if (paso.estado === 'intento_fallido')
    return anotarIntento(deps, guia, paso, [await fotoDeMuestra(deps, guia, paso.ocurrido_en)], alFinal)
  return darPasoCon(deps, guia, paso, alFinal)
}
