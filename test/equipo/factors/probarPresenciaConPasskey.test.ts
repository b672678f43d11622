import { describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../../server/platform/time/units.ts'
import { waitUntil } from '../../factories.ts'
import {
  addPasskey,
  PASSKEYS_PATH,
  prepareRegistration,
  signChallenge,
  signInWithPasskey,
  toStatusAndCode,
  usePasskeys,
  WRONG_PASSKEY,
} from '../authenticator.ts'
import {
  createCorreoAddress,
  createTestPersona,
  requestFromPage,
  type TestPersona,
  toCookieHeader,
} from '../persona.ts'

const { agregar, environment } = usePasskeys()
const probar = (cookie: string, body: unknown) =>
  requestFromPage(environment, cookie, ['POST', `${PASSKEYS_PATH}/presencia`, body])
const invitar = ({ request }: TestPersona) =>
  request('POST', '/operaciones/v1/invitaciones', { correo: createCorreoAddress(), nombre: 'x', alcances: ['ver'] })

describe('a person with a passkey', () => {
  it('proves with it to be there, and needs the proof to add and to remove one', async () => {
    const [ana, other] = [await createTestPersona(environment), await createTestPersona(environment)]
    const { autenticador, passkey } = await addPasskey(environment, ana)
    const foreign = await addPasskey(environment, other)
    const startedRegistration = await prepareRegistration(environment, ana)
    environment.advance(4 * MINUTE_MS)
    const signedIn = await signInWithPasskey(environment, await signChallenge(environment, autenticador))
    environment.advance(MINUTE_MS + 1)
    await waitUntil(async () => (await invitar(ana)).status === 403)
    const late = [403, 'presencia_requerida']
    expect(toStatusAndCode(await ana.request('POST', `${PASSKEYS_PATH}/registro`))).toEqual(late)
    expect(toStatusAndCode(await agregar(startedRegistration.cookie, startedRegistration.body))).toEqual(late)
    expect(toStatusAndCode(await ana.request('DELETE', `${PASSKEYS_PATH}/${passkey}`))).toEqual(late)
    // A sign-in with a passkey is a proof by itself.
    const freshCookie = toCookieHeader(signedIn.headers)
    expect((await requestFromPage(environment, freshCookie, ['POST', `${PASSKEYS_PATH}/registro`])).status).toBe(200)
    const fromOther = await signChallenge(environment, foreign.autenticador)
    expect(toStatusAndCode(await probar(`${ana.cookie}; ${fromOther.cookie}`, fromOther.body))).toEqual(WRONG_PASSKEY)
    const propia = await signChallenge(environment, autenticador)
    const guiaWithPrueba = await probar(`${ana.cookie}; ${propia.cookie}`, propia.body)
    expect([guiaWithPrueba.status, guiaWithPrueba.body.sesion]).toEqual([200, ana.sesion])
    await waitUntil(async () => (await invitar(ana)).status === 201)
    expect(toStatusAndCode(await probar(`${ana.cookie}; ${propia.cookie}`, propia.body))).toEqual(WRONG_PASSKEY)
    const fromOtherSite = { headers: { Origin: 'https://malo.example' } }
    const ajena = await ana.request('POST', `${PASSKEYS_PATH}/presencia`, propia.body, fromOtherSite)
    expect(toStatusAndCode(ajena)).toEqual([403, 'origen_no_permitido'])
  })
})
