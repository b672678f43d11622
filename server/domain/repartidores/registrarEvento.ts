import type { Identities } from '../../api/http/identity.ts'
import type { EventoDeReparto } from '../../generado/contrato/tipos/index.ts'
import type { DepsDeOperacion } from '../deps.ts'
import { contestarLectura, type EventoRegistrado, registrarLectura } from '../eventos/registrar.ts'
import type { Handler } from '../operation.ts'
import { darPasoConFotos } from '../pruebasEntrega/registrar.ts'
import { permitirA } from './custodia.ts'
import { presentarQuien } from './repartidor.ts'

const REMEDIO = 'Espere la confirmación, o pida a la central que fuerce la salida.'

/** Registers a report of a courier about a guide. */
export function registrarDeReparto(
  deps: DepsDeOperacion,
  identidad: Identities['sesionDeRepartidor'],
  guia: string,
  { forzar: _, repartidor: __, ...evento }: EventoDeReparto,
): Promise<EventoRegistrado> {
  const { repartidor } = identidad
  const permitir = permitirA(deps, repartidor)
  const quien = {
    ambito: 'todos',
    autor: repartidor,
    repartidor: presentarQuien(identidad),
    remedio: REMEDIO,
    toma: repartidor,
    permitir,
  } as const
  const dar = darPasoConFotos(deps, { autor: repartidor, api: '/repartidor/v1' }, evento.fotos)
  return registrarLectura(deps, quien, guia, evento, dar)
}

export const registrarEventoDeReparto: Handler<'registrarEventoDeReparto'> = async ({ path, body, identidad }, deps) =>
  contestarLectura(await registrarDeReparto(deps, identidad, path.guia, body))
