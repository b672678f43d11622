import type { PersonaActor } from '../../domain/bitacora/bitacora.ts'
import type { Deps } from '../../domain/deps.ts'
import { readFactors } from '../../domain/equipo/factorRules.ts'
import { confirmTotp } from '../../domain/equipo/factors/agregarTotp.ts'
import { createRecoveryCodes } from '../../domain/equipo/factors/crearCodigosDeRecuperacion.ts'
import { registerTotp } from '../../domain/equipo/factors/pedirRegistroDeTotp.ts'
import { removeTotpOf } from '../../domain/equipo/factors/quitarTotp.ts'
import { Problema } from '../../platform/errors.ts'
import type { Sheet } from '../page.ts'
import { appPage, codesPage, qrDrawing } from './factorsView.ts'
import { backPage } from './view.ts'

type FactorDeps = Pick<Deps, 'db' | 'clock' | 'secretos' | 'newId' | 'browser' | 'settings' | 'bitacora' | 'notifyJobs'>
const ACTIONS = ['app', 'confirmar', 'codigos', 'quitarApp']

/** Reports whether a form of the account's page changes the second factor. */
export const changesFactors = (action: string) => ACTIONS.includes(action)

/**
 * Takes the action of a form about the second factor. The caller has checked that the person proved to be present
 * recently.
 */
export async function changeFactors(
  deps: FactorDeps,
  caller: PersonaActor,
  { accion, codigo }: Readonly<Record<'accion' | 'codigo', string>>,
  root: string,
): Promise<Sheet> {
  try {
    if (accion === 'app') return await showSecret(deps, caller, root)
    if (accion === 'confirmar') return await confirm(deps, caller, codigo, root)
    // A session without its second factor gets no recovery codes, because these could replace the missing factor.
    if (caller.identity.lacksSecondFactor) return { status: 303, a: `${root}cuenta` }
    if (accion === 'codigos') return { status: 200, ...(await showCodes(deps, caller, root)) }
    await removeTotpOf(deps, caller)
    return { status: 303, a: `${root}cuenta` }
  } catch (error) {
    if (!(error instanceof Problema) || !['segundo_factor_requerido', 'ultimo_segundo_factor'].includes(error.codigo))
      throw error
    return { status: error.status, ...backPage('No se pudo', error.message, root) }
  }
}

async function showSecret(deps: FactorDeps, { identity }: PersonaActor, root: string): Promise<Sheet> {
  const registro = await registerTotp(deps, identity)
  const { qrOf } = await import('../../platform/pdf/barcodes.ts')
  const matrix = qrOf(registro.uri)
  return { status: 200, ...appPage(root, { registro, qr: matrix && qrDrawing(matrix) }) }
}

/** Confirms an app for codes. If it is the person's first second factor, also creates recovery codes. */
async function confirm(deps: FactorDeps, caller: PersonaActor, code: string, root: string): Promise<Sheet> {
  try {
    const headers = await confirmTotp(deps, caller, code)
    const { codigos } = await readFactors(deps.db.query, caller.identity.personaId)
    if (codigos > 0) return { status: 303, a: `${root}cuenta`, headers }
    return { status: 200, ...(await showCodes(deps, caller, root)), headers }
  } catch (error) {
    if (!(error instanceof Problema) || error.codigo !== 'segundo_factor_incorrecto') throw error
    const faults = { codigo: 'Ese código no vale. Espere el siguiente de su app y escríbalo.' }
    return { status: 401, ...appPage(root, { faults }) }
  }
}

const showCodes = async (deps: FactorDeps, caller: PersonaActor, root: string) =>
  codesPage(root, await createRecoveryCodes(deps, caller), deps.settings.brand.nombre)
