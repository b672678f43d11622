import type { Identities } from '../../api/http/identity.ts'
import type { Quien } from '../../domain/bitacora/bitacora.ts'
import type { Deps } from '../../domain/deps.ts'
import { confirmarTotp } from '../../domain/equipo/agregarTotp.ts'
import { hacerCodigos } from '../../domain/equipo/crearCodigosDeRecuperacion.ts'
import { leerFactores } from '../../domain/equipo/factores.ts'
import { registrarTotp } from '../../domain/equipo/pedirRegistroDeTotp.ts'
import { quitarTotpDe } from '../../domain/equipo/quitarTotp.ts'
import { Problema } from '../../platform/errors.ts'
import type { Sheet } from '../page.ts'
import { appPage, codesPage, qrDrawing } from './factorsView.ts'
import { backPage } from './view.ts'

type FactorDeps = Pick<
  Deps,
  'db' | 'reloj' | 'secretos' | 'nuevoId' | 'navegador' | 'ajustes' | 'bitacora' | 'avisarTrabajo'
>
type Person = Quien & { identidad: Identities['sesionDePersona'] }

const ACTIONS = ['app', 'confirmar', 'codigos', 'quitarApp']

/** Reports whether a form of the account's page changes the second factor. */
export const changesFactors = (accion: string) => ACTIONS.includes(accion)

/**
 * Takes the action of a form about the second factor. The caller has checked that the person proved to be present
 * recently.
 */
export async function changeFactors(
  deps: FactorDeps,
  quien: Person,
  { accion, codigo }: Readonly<Record<'accion' | 'codigo', string>>,
  raiz: string,
): Promise<Sheet> {
  try {
    if (accion === 'app') return await showSecret(deps, quien, raiz)
    if (accion === 'confirmar') return await confirm(deps, quien, codigo, raiz)
    // A session without its second factor gets no recovery codes, because these could replace the missing factor.
    if (quien.identidad.faltaSegundoFactor) return { status: 303, a: `${raiz}cuenta` }
    if (accion === 'codigos') return { status: 200, ...(await showCodes(deps, quien, raiz)) }
    await quitarTotpDe(deps, quien)
    return { status: 303, a: `${raiz}cuenta` }
  } catch (error) {
    if (!(error instanceof Problema) || !['segundo_factor_requerido', 'ultimo_segundo_factor'].includes(error.codigo))
      throw error
    return { status: error.status, ...backPage('No se pudo', error.message, raiz) }
  }
}

async function showSecret(deps: FactorDeps, { identidad }: Person, raiz: string): Promise<Sheet> {
  const registro = await registrarTotp(deps, identidad)
  const { qrOf } = await import('../../platform/pdf/barcodes.ts')
  const matrix = qrOf(registro.uri)
  return { status: 200, ...appPage(raiz, { registro, qr: matrix && qrDrawing(matrix) }) }
}

/** Confirms an app for codes. If it is the person's first second factor, also creates recovery codes. */
async function confirm(deps: FactorDeps, quien: Person, codigo: string, raiz: string): Promise<Sheet> {
  try {
    const cabeceras = await confirmarTotp(deps, quien, codigo)
    const { codigos } = await leerFactores(deps.db.consultar, quien.identidad.personaId)
    if (codigos > 0) return { status: 303, a: `${raiz}cuenta`, cabeceras }
    return { status: 200, ...(await showCodes(deps, quien, raiz)), cabeceras }
  } catch (error) {
    if (!(error instanceof Problema) || error.codigo !== 'segundo_factor_incorrecto') throw error
    const faults = { codigo: 'Ese código no vale. Espere el siguiente de su app y escríbalo.' }
    return { status: 401, ...appPage(raiz, { faults }) }
  }
}

const showCodes = async (deps: FactorDeps, quien: Person, raiz: string) =>
  codesPage(raiz, await hacerCodigos(deps, quien), deps.ajustes.marca.nombre)
