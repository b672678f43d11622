import { devolverGuiaDe } from '../decisiones/decidir.ts'
import { unaVez } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { buscarGuia, presentar } from './guia.ts'

export const devolverGuia: Handler<'devolverGuia'> = async (entrada, deps) => {
  const { path, body, identidad } = entrada
  const quien = { ambito: identidad, autor: identidad.comercio, por: 'comercio', descripcion: body.razon } as const
  const { hecho: guia, headers } = await unaVez(deps, 'devolverGuia', entrada, {
    hacer: (recordar) => devolverGuiaDe(deps, quien, path.guia, recordar),
    releer: (guia) => buscarGuia(deps.db, identidad, guia),
  })
  return { status: 200, headers, body: presentar(deps.ajustes, guia) }
}
