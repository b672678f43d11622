import type { Identities } from '../../api/http/identity.ts'
import type { EventoDeReparto } from '../../generated/contract/types/index.ts'
import type { OperacionDeps } from '../deps.ts'
import { presentRepartidorName } from '../identities/repartidor.ts'
import type { Handler } from '../operation.ts'
import { takeStepWithFotos } from '../pruebasEntrega/registrar.ts'
import { answerScan, type EventoRegistrado, registerScan } from '../scans/register.ts'
import { authorizeRepartidor } from './custodia.ts'

const REMEDY = 'Espere la confirmación, o pida a la central que fuerce la salida.'

/** Registers a report of a courier about a guide. */
export function recordByRepartidor(
  deps: OperacionDeps,
  identity: Identities['sesionDeRepartidor'],
  guia: string,
  { forzar: _, repartidor: __, ...evento }: EventoDeReparto,
): Promise<EventoRegistrado> {
  const { repartidor } = identity
  const authorize = authorizeRepartidor(deps, repartidor)
  const caller = {
    ambito: 'todos',
    autor: repartidor,
    repartidor: presentRepartidorName(identity),
    remedy: REMEDY,
    taker: repartidor,
    authorize,
  } as const
  const record = takeStepWithFotos(deps, { autor: repartidor, api: '/repartidor/v1' }, evento.fotos)
  return registerScan(deps, caller, guia, evento, record)
}

export const registrarEventoDeReparto: Handler<'registrarEventoDeReparto'> = async ({ path, body, identity }, deps) =>
  answerScan(await recordByRepartidor(deps, identity, path.guia, body))
