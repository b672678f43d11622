import type { Express } from 'express'
import type { Deps } from '../deps.ts'
import { cuerpoDe, enviar, PUBLICA } from './respuesta.ts'

const RUTA = '/.well-known/security.txt'
/** For how long it is good, in milliseconds: RFC 9116 wants less than a year, counted anew at each reading. */
const VIGENCIA = 180 * 24 * 3_600_000

/** Serves whom to tell of a weakness (RFC 9116), where the operator has named somebody. */
export function servirContactoDeSeguridad(app: Express, { ajustes, reloj }: Pick<Deps, 'ajustes' | 'reloj'>) {
  const { contactoDeSeguridad, urlPublica } = ajustes
  if (contactoDeSeguridad === undefined) return
  app.get(RUTA, (req, res) => {
    const lineas = [
      `Contact: ${contactoDeSeguridad}`,
      `Expires: ${new Date(reloj().getTime() + VIGENCIA).toISOString()}`,
      'Preferred-Languages: es, en',
      `Canonical: ${urlPublica}${RUTA}`,
    ]
    enviar(req, res, {
      status: 200,
      tipo: 'text/plain; charset=utf-8',
      cuerpo: cuerpoDe(`${lineas.join('\n')}\n`),
      cabeceras: PUBLICA,
    })
  })
}
