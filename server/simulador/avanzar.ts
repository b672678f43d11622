import type { Handler } from '../contrato/tipos.ts'
import type { Deps } from '../deps.ts'
import { leerCambio, pasoDe } from '../eventos/cambio.ts'
import { darPaso, type Paso, sinCarrera } from '../eventos/evento.ts'
import { buscarGuia, type FilaGuia, presentar } from '../guias/guia.ts'
import { entregar } from '../pruebasEntrega/entrega.ts'
import { anotarIntento } from '../pruebasEntrega/intento.ts'
import { evidenciaDeMuestra, fotoDeMuestra } from './muestra.ts'
import { exigirModoTest } from './simulador.ts'

const REMEDIO = 'Confírmela antes con POST /api/v1/simulador/guias/{guia}/confirmar-ubicacion.'

export const simularAvance: Handler<'simularAvance'> = async ({ path, body, identidad }, deps) => {
  const { db, reloj } = deps
  exigirModoTest(identidad)
  const cambio = leerCambio(body, reloj())
  const guia = await sinCarrera(async () => {
    const leida = await buscarGuia(db, identidad, path.guia)
    const dado = await dar(deps, leida, {
      ...pasoDe(leida, cambio, reloj(), REMEDIO),
      descripcion: body.descripcion ?? null,
      autor: identidad.comercio,
    })
    return dado?.guia
  })
  return { status: 200, body: presentar(guia) }
}

/** The step, with the proof that a courier would bring for it. */
async function dar(deps: Deps, guia: FilaGuia, paso: Paso) {
  if (paso.estado === 'entregado') {
    const evidencia = await evidenciaDeMuestra(deps, guia, paso.ocurrido_en)
    const { lat = null, lng = null } = evidencia
    return entregar(deps, guia, { ...paso, lat, lng }, evidencia)
  }
  if (paso.estado === 'intento_fallido')
    return anotarIntento(deps, guia, paso, [await fotoDeMuestra(deps, guia, paso.ocurrido_en)])
  return darPaso(deps, guia, paso)
}
