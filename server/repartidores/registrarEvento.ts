import type { Handler } from '../contrato/tipos.ts'
import { contestarLectura, registrarLectura } from '../eventos/registrar.ts'
import { darPasoConFotos } from '../pruebasEntrega/registrar.ts'

const REMEDIO = 'Espere la confirmación, o pida a la central que fuerce la salida.'

export const registrarEventoDeReparto: Handler<'registrarEventoDeReparto'> = async (
  { path, body, identidad },
  deps,
) => {
  const quien = { ambito: 'todos', autor: identidad.repartidor, remedio: REMEDIO } as const
  const dar = darPasoConFotos(deps, { autor: identidad.repartidor, api: '/repartidor/v1' }, body.fotos)
  return contestarLectura(await registrarLectura(deps, quien, path.guia, body, dar))
}
