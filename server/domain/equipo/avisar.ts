import type { Query } from '../../data/db.ts'
import { createClock } from '../../platform/time/clock.ts'
import { zonaDeLaEmpresa } from '../catalogo/zona.ts'
import { type CambioDeFactor, guardarCorreo } from '../correos/correo.ts'
import type { Deps } from '../deps.ts'
import { dispositivoDe, esConocido } from './sesion.ts'

/** Minutes within which a notice must be sent; later it is dropped. */
const MINUTOS_DE_AVISO = 1_440

type DepsDeAviso = Pick<Deps, 'secretos' | 'nuevoId' | 'reloj' | 'ajustes'>

/** Recipient of a notice. */
export interface Avisada {
  nombre: string
  correo: string
}

const comun = ({ reloj, ajustes }: DepsDeAviso, nombre: string) => {
  const { zonaHoraria, urlDePersonas } = ajustes
  const cuando = createClock(zonaDeLaEmpresa(zonaHoraria)).larga(reloj().toISOString())
  return { nombre, cuando, enlace: `${urlDePersonas}/cuenta` }
}

/** Tells a person by mail about a sign-in if the person has not used the browser before. */
export async function avisarEntrada(
  consultar: Query,
  deps: DepsDeAviso & Pick<Deps, 'navegador'>,
  { id, nombre, correo: para }: Avisada & { id: string },
  { cookie, agente }: Record<'cookie' | 'agente', string>,
): Promise<void> {
  if (esConocido(deps, cookie, id)) return
  const datos = { ...comun(deps, nombre), dispositivo: dispositivoDe(agente) }
  await guardarCorreo(consultar, deps, { tipo: 'entrada', para, datos, minutos: MINUTOS_DE_AVISO })
}

/** Tells a person by mail that a passkey was added to the account, or removed. */
export async function avisarPasskey(
  consultar: Query,
  deps: DepsDeAviso,
  { nombre, correo: para }: Avisada,
  cambio: { agregada: boolean; dispositivo: string },
): Promise<void> {
  const datos = { ...comun(deps, nombre), ...cambio }
  await guardarCorreo(consultar, deps, { tipo: 'passkey', para, datos, minutos: MINUTOS_DE_AVISO })
}

/** Tells a person by mail what happened to the account's second factor. */
export async function avisarSegundoFactor(
  consultar: Query,
  deps: DepsDeAviso,
  { nombre, correo: para }: Avisada,
  cambio: { que: CambioDeFactor; quedan: number },
): Promise<void> {
  const datos = { ...comun(deps, nombre), ...cambio }
  await guardarCorreo(consultar, deps, { tipo: 'segundo_factor', para, datos, minutos: MINUTOS_DE_AVISO })
}
