import { contestarLectura, registrarLectura } from '../eventos/registrar.ts'
import type { Handler } from '../operation.ts'
import { darPasoConFotos } from '../pruebasEntrega/registrar.ts'
import { exigirActivo, presentarQuien } from '../repartidores/repartidor.ts'
import { withKey } from './unaVez.ts'

const REMEDIO = 'Espere la confirmación o envíe forzar con una razón.'

export const registrarEvento: Handler<'registrarEvento'> = async (entrada, deps) => {
  const { path, body, identidad } = entrada
  const repartidor = body.repartidor === undefined ? undefined : await exigirActivo(deps.db, body.repartidor)
  const quien = {
    ambito: 'todos',
    autor: identidad.operador,
    repartidor: repartidor && presentarQuien(repartidor),
    remedio: REMEDIO,
    toma: body.repartidor,
  } as const
  const dar = darPasoConFotos(deps, { autor: identidad.operador, api: '/operaciones/v1' }, body.fotos)
  return contestarLectura(await registrarLectura(deps, quien, path.guia, withKey(entrada), dar))
}
