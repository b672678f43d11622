import type { Identities } from '../../api/http/identity.ts'
import type { Deps } from '../../domain/deps.ts'
import type { AvisoDeRed } from '../../domain/equipo/otraRed.ts'
import { sesionDeToken } from '../../domain/equipo/sesion.ts'
import type { PageRequest } from '../page.ts'

/** Dependencies of a page that reads the session of its reader. */
export type SessionDeps = Pick<Deps, 'db' | 'reloj' | 'navegador'> & { alUsarSesion: AvisoDeRed }

/**
 * Returns the session of the person who reads a page; undefined if it is not valid. Records the use on another network
 * than that of the sign-in, as for operations.
 */
export async function sessionOf(
  deps: SessionDeps,
  { req, red }: Pick<PageRequest, 'req' | 'red'>,
): Promise<Identities['sesionDePersona'] | undefined> {
  const token = deps.navegador.leerSesionDePersona(req)
  const sesion = token === undefined ? undefined : await sesionDeToken(deps, token)
  if (sesion) deps.alUsarSesion(sesion, red, req.solicitud.id)
  return sesion
}
