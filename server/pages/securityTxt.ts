import type { Express } from 'express'
import type { Deps } from '../domain/deps.ts'
import { bodyOf, PUBLIC_HEADERS, sendPage } from './response.ts'

const RUTA = '/.well-known/security.txt'
/** Validity of the file, in milliseconds from each response. RFC 9116 recommends less than a year. */
const VIGENCIA = 180 * 24 * 3_600_000

/**
 * Serves `security.txt`, the contact for vulnerability reports (RFC 9116), if the operator has configured a contact.
 */
export function serveSecurityContact(app: Express, { ajustes, reloj }: Pick<Deps, 'ajustes' | 'reloj'>) {
  const { contactoDeSeguridad, urlPublica } = ajustes
  if (contactoDeSeguridad === undefined) return
  app.get(RUTA, (req, res) => {
    const lineas = [
      `Contact: ${contactoDeSeguridad}`,
      `Expires: ${new Date(reloj().getTime() + VIGENCIA).toISOString()}`,
      'Preferred-Languages: es, en',
      `Canonical: ${urlPublica}${RUTA}`,
    ]
    sendPage(req, res, {
      status: 200,
      tipo: 'text/plain; charset=utf-8',
      cuerpo: bodyOf(`${lineas.join('\n')}\n`),
      cabeceras: PUBLIC_HEADERS,
    })
  })
}
