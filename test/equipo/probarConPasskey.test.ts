import { describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { hasta } from '../factories.ts'
import {
  addPasskey,
  PASSKEYS_PATH,
  prepareRegistration,
  signChallenge,
  signInWithPasskey,
  toStatusAndCode,
  usePasskeys,
  WRONG_PASSKEY,
} from './authenticator.ts'
import { createCorreoAddress, createTestPersona, requestFromPage, type TestPersona, toCookieHeader } from './persona.ts'

const { agregar, environment: entorno } = usePasskeys()
const probar = (cookie: string, cuerpo: unknown) =>
  requestFromPage(entorno, cookie, ['POST', `${PASSKEYS_PATH}/presencia`, cuerpo])
const invitar = ({ request: pedir }: TestPersona) =>
  pedir('POST', '/operaciones/v1/invitaciones', { correo: createCorreoAddress(), nombre: 'x', alcances: ['ver'] })

describe('a person with a passkey', () => {
  it('proves with it to be there, and needs the proof to add and to remove one', async () => {
    const [ana, otra] = [await createTestPersona(entorno), await createTestPersona(entorno)]
    const { autenticador, passkey } = await addPasskey(entorno, ana)
    const ajeno = await addPasskey(entorno, otra)
    const empezada = await prepareRegistration(entorno, ana)
    entorno.advance(4 * MINUTE_MS)
    const abierta = await signInWithPasskey(entorno, await signChallenge(entorno, autenticador))
    entorno.advance(MINUTE_MS + 1)
    await hasta(async () => (await invitar(ana)).status === 403)
    const tarde = [403, 'presencia_requerida']
    expect(toStatusAndCode(await ana.request('POST', `${PASSKEYS_PATH}/registro`))).toEqual(tarde)
    expect(toStatusAndCode(await agregar(empezada.cookie, empezada.cuerpo))).toEqual(tarde)
    expect(toStatusAndCode(await ana.request('DELETE', `${PASSKEYS_PATH}/${passkey}`))).toEqual(tarde)
    // A sign-in with a passkey is a proof by itself.
    const fresca = toCookieHeader(abierta.cabeceras)
    expect((await requestFromPage(entorno, fresca, ['POST', `${PASSKEYS_PATH}/registro`])).status).toBe(200)
    const deOtra = await signChallenge(entorno, ajeno.autenticador)
    expect(toStatusAndCode(await probar(`${ana.cookie}; ${deOtra.cookie}`, deOtra.cuerpo))).toEqual(WRONG_PASSKEY)
    const propia = await signChallenge(entorno, autenticador)
    const probada = await probar(`${ana.cookie}; ${propia.cookie}`, propia.cuerpo)
    expect([probada.status, probada.cuerpo.sesion]).toEqual([200, ana.sesion])
    await hasta(async () => (await invitar(ana)).status === 201)
    expect(toStatusAndCode(await probar(`${ana.cookie}; ${propia.cookie}`, propia.cuerpo))).toEqual(WRONG_PASSKEY)
    const deOtroSitio = { cabeceras: { Origin: 'https://malo.example' } }
    const ajena = await ana.request('POST', `${PASSKEYS_PATH}/presencia`, propia.cuerpo, deOtroSitio)
    expect(toStatusAndCode(ajena)).toEqual([403, 'origen_no_permitido'])
  })
})
