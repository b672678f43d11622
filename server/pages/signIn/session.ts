import { isRefresh } from '../../api/http/authenticate.ts'
import type { Identities } from '../../api/http/identity.ts'
import type { Deps } from '../../domain/deps.ts'
import type { NetworkNotice } from '../../domain/equipo/sessions/otherNetwork.ts'
import { hasIdledOut, sesionOfToken } from '../../domain/equipo/sessions/sesion.ts'
import type { PageRequest, Sheet } from '../page.ts'

/** Dependencies of a page that reads the session of its reader. */
export type SessionDeps = Pick<Deps, 'db' | 'clock' | 'browser'> & { onSesionUse: NetworkNotice }

/**
 * Returns the session of the person who reads a page; undefined if it is not valid. Records the use on another network
 * than that of the sign-in, as for operations.
 */
export async function sessionOf(
  deps: SessionDeps,
  { req, red }: Pick<PageRequest, 'req' | 'red'>,
): Promise<Identities['sesionDePersona'] | undefined> {
  const token = deps.browser.readPersonaSesion(req)
  const sesion = token === undefined ? undefined : await sesionOfToken(deps, token)
  if (sesion) deps.onSesionUse(sesion, { red, requestId: req.solicitud.id, isRefresh: isRefresh(req) })
  return sesion
}

/**
 * Redirects a reader without a valid session to `/entrar`, which leads back to the page after the sign-in. The page
 * tells the reader if the session ended because nobody used it.
 */
export async function signInSheet(
  deps: Pick<Deps, 'db' | 'clock' | 'browser'>,
  { req, root, reading }: Pick<PageRequest, 'req' | 'root' | 'reading'>,
): Promise<Sheet> {
  const token = deps.browser.readPersonaSesion(req)
  const idle = token !== undefined && (await hasIdledOut(deps, token))
  const returnTo = returnPath(reading ? req.originalUrl : pathOf(req.headers.referer))
  return { status: 303, a: `${root}entrar${signInQuery({ returnTo, idle })}` }
}

/** Returns path and query of an absolute URL; undefined if the text is missing or malformed. */
const pathOf = (url = ''): string | undefined => {
  const parsed = URL.parse(url)
  return parsed ? parsed.pathname + parsed.search : undefined
}

/** Returns the query of a sign-in page; empty if it leads to the account afterwards. */
export function signInQuery({ returnTo, idle = false }: { returnTo: string; idle?: boolean }): string {
  const query = new URLSearchParams({
    ...(returnTo !== ACCOUNT && { volver: returnTo }),
    ...(idle && { por: 'inactividad' }),
  })
  return query.size === 0 ? '' : `?${query}`
}

const ACCOUNT = '/cuenta'

/**
 * Pattern of the paths of this service to which a page may return. A second `/` or a `\` after the first `/` would lead
 * to another site.
 */
const RETURN = /^\/[a-z](?:[A-Za-z0-9_/-]*[A-Za-z0-9_])?(?:\?[A-Za-z0-9_=&%.,+:~-]+)?$/

/**
 * Returns the path to which a page returns. For a text that is not a path of this service, it is the account's page.
 */
export const returnPath = (text: unknown): string =>
  typeof text === 'string' && text.length <= MAX_RETURN && RETURN.test(text) ? text : ACCOUNT
const MAX_RETURN = 500
