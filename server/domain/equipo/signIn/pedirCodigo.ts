import { requireCorreo } from '../../correos/correo.ts'
import type { Handler } from '../../operation.ts'
import { CODE_MINUTES, writeCode } from '../mailCode.ts'
import { limitSignIns } from '../signInLimits.ts'

export const pedirCodigo: Handler<'pedirCodigo'> = async ({ body, red }, deps) => {
  limitSignIns(deps, red)
  const { token, vence_en } = await writeCode(deps, requireCorreo(body.correo))
  const headers = { 'Set-Cookie': deps.browser.setSignIn(token, CODE_MINUTES * 60) }
  return { status: 202, headers, body: { vence_en: vence_en.toISOString() } }
}
