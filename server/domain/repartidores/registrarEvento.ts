import { contestarLectura, registrarLectura } from '../eventos/registrar.ts'
import type { Handler } from '../operation.ts'
import { darPasoConFotos } from '../pruebasEntrega/registrar.ts'
import { permitirA } from './custodia.ts'
import { presentarQuien } from './repartidor.ts'

const REMEDIO = 'Espere la confirmación, o pida a la central que fuerce la salida.'

export const registrarEventoDeReparto: Handler<'registrarEventoDeReparto'> = async (
  { path, body, identidad },
  deps,
) => {
  const { repartidor } = identidad
  const permitir = permitirA(deps.ajustes, repartidor)
  const quien = {
    ambito: 'todos',
    autor: repartidor,
    repartidor: presentarQuien(identidad),
    remedio: REMEDIO,
    toma: repartidor,
    permitir,
  } as const
  const dar = darPasoConFotos(deps, { autor: repartidor, api: '/repartidor/v1' }, body.fotos)
  return contestarLectura(await registrarLectura(deps, quien, path.guia, body, dar))
}
