import type { Handler } from '../contrato/tipos.ts'
import { contestarLectura, registrarLectura } from '../eventos/registrar.ts'
import { darPasoConFotos } from '../pruebasEntrega/registrar.ts'

const REMEDIO = 'Espere la confirmación o envíe forzar con una razón.'

export const registrarEvento: Handler<'registrarEvento'> = async ({ path, body, identidad }, deps) => {
  const quien = { ambito: 'todos', autor: identidad.operador, remedio: REMEDIO } as const
  const dar = darPasoConFotos(deps, { autor: identidad.operador, api: '/operaciones/v1' }, body.fotos)
  return contestarLectura(await registrarLectura(deps, quien, path.guia, body, dar))
}
