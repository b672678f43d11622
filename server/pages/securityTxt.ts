import type { Express } from 'express'
import type { Deps } from '../domain/deps.ts'
import { DAY_MS } from '../platform/time/units.ts'
import { bodyOf, PUBLIC_HEADERS, sendPage } from './response.ts'

const SECURITY_TXT_PATH = '/.well-known/security.txt'
/** Validity of the file, in milliseconds from each response. RFC 9116 recommends less than a year. */
const VALIDITY_MS = 180 * DAY_MS

/**
 * Serves `security.txt`, the contact for vulnerability reports (RFC 9116), if the operator has configured a contact.
 */
export function serveSecurityContact(app: Express, { settings, clock }: Pick<Deps, 'settings' | 'clock'>) {
  const { securityContact, publicUrl } = settings
  if (securityContact === undefined) return
  app.get(SECURITY_TXT_PATH, (req, res) => {
    const lines = [
      `Contact: ${securityContact}`,
      `Expires: ${new Date(clock().getTime() + VALIDITY_MS).toISOString()}`,
      'Preferred-Languages: es, en',
      `Canonical: ${publicUrl}${SECURITY_TXT_PATH}`,
    ]
    sendPage(req, res, {
      status: 200,
      tipo: 'text/plain; charset=utf-8',
      body: bodyOf(`${lines.join('\n')}\n`),
      headers: PUBLIC_HEADERS,
    })
  })
}
