import { presentRepartidorName, requireActiveRepartidor } from '../identities/repartidor.ts'
import type { Handler } from '../operation.ts'
import { takeStepWithFotos } from '../pruebasEntrega/registrar.ts'
import { answerScan, registerScan } from '../scans/register.ts'
import { withKey } from './doOnceByOperador.ts'

const REMEDY = 'Espere la confirmación o envíe forzar con una razón.'

export const registrarEvento: Handler<'registrarEvento'> = async (input, deps) => {
  const { path, body, identity } = input
  const repartidor = body.repartidor === undefined ? undefined : await requireActiveRepartidor(deps.db, body.repartidor)
  const caller = {
    ambito: 'todos',
    autor: identity.operador,
    repartidor: repartidor && presentRepartidorName(repartidor),
    remedy: REMEDY,
    taker: body.repartidor,
  } as const
  const record = takeStepWithFotos(deps, { autor: identity.operador, api: '/operaciones/v1' }, body.fotos)
  return answerScan(await registerScan(deps, caller, path.guia, withKey(input), record))
}
