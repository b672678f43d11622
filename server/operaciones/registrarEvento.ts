import type { Handler } from '../contrato/tipos.ts'
import { problemaDeFallas } from '../errores.ts'
import { contestarLectura, registrarLectura } from '../eventos/registrar.ts'
import { darPasoConFotos } from '../pruebasEntrega/registrar.ts'
import { buscarRepartidor } from '../repartidores/repartidor.ts'

const REMEDIO = 'Espere la confirmación o envíe forzar con una razón.'

export const registrarEvento: Handler<'registrarEvento'> = async ({ path, body, identidad }, deps) => {
  if (body.repartidor !== undefined && !(await buscarRepartidor(deps.db, body.repartidor))?.codigo_hash) {
    const mensaje = 'no es ningún repartidor activo; compárelo con GET /operaciones/v1/repartidores'
    throw problemaDeFallas('validacion', [{ campo: '/repartidor', codigo: 'valor_no_admitido', mensaje }])
  }
  const quien = { ambito: 'todos', autor: identidad.operador, remedio: REMEDIO, toma: body.repartidor } as const
  const dar = darPasoConFotos(deps, { autor: identidad.operador, api: '/operaciones/v1' }, body.fotos)
  return contestarLectura(await registrarLectura(deps, quien, path.guia, body, dar))
}
