import { describe, expect, it } from 'vitest'
import { returnPath } from '../../server/pages/signIn/session.ts'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { addPasskey } from './authenticator.ts'
import {
  createComercioPersona,
  createTestPersona,
  findPendingCorreo,
  makeRecoveryCodes,
  requestCode,
} from './persona.ts'
import { createScriptlessBrowser } from './withoutScript.ts'

const environment = useEnvironment()

/** A person whose last proof of presence is older than five minutes, in a browser without a program. */
async function late() {
  const ana = await createComercioPersona(environment)
  const browser = createScriptlessBrowser(environment, ana.cookie)
  environment.advance(5 * MINUTE_MS + 1)
  const codigo = async () => (await findPendingCorreo(environment, 'codigo', ana.correo)).codigo as string
  return { ana, ...browser, codigo }
}
const RETURN_PATH = '/cuenta?quitar=pas_0123456789AB'
const PAGINA = `/cuenta/presencia?volver=${encodeURIComponent(RETURN_PATH)}`

describe('the page on which a person proves to be there', () => {
  it('sends a code, takes it, and returns to what the person was doing, without a program', async () => {
    const { ana, visit, cookies: savedCookies, codigo } = await late()
    const first = await visit(PAGINA)
    expect([first.status, first.texto]).toEqual([200, expect.stringContaining(`Le mandamos un código a ${ana.correo}`)])
    expect(first.texto).toContain(`name="volver" value="${RETURN_PATH}"`)
    const redirect = await visit('/cuenta/presencia', { volver: RETURN_PATH })
    expect([redirect.status, redirect.destino]).toEqual([
      303,
      `${environment.url}/cuenta/presencia/codigo?volver=${encodeURIComponent(RETURN_PATH)}`,
    ])
    const second = await visit(redirect.destino!)
    expect([second.status, second.texto]).toEqual([200, expect.stringContaining('autocomplete="one-time-code"')])
    const bad = await visit('/cuenta/presencia/codigo', { codigo: 'x', volver: RETURN_PATH })
    expect([bad.status, bad.texto]).toEqual([401, expect.stringContaining('El código no vale')])
    expect(bad.texto).toContain(`name="volver" value="${RETURN_PATH}"`)
    const response = await visit('/cuenta/presencia/codigo', { codigo: await codigo(), volver: RETURN_PATH })
    expect([response.status, response.destino]).toEqual([303, environment.url + RETURN_PATH])
    expect([...savedCookies.keys()]).toEqual(['guias_sesion'])
    // Who is there already is not asked again.
    expect((await visit(PAGINA)).destino).toBe(environment.url + RETURN_PATH)
  })

  it('is offered to a person who removes a passkey late, and another click removes the passkey', async () => {
    const ana = await createComercioPersona(environment)
    await addPasskey(environment, ana)
    const { visit } = createScriptlessBrowser(environment, ana.cookie)
    const [, passkey = ''] = /name="cual" value="(pas_[^"]+)"/.exec((await visit('/cuenta')).texto) ?? []
    environment.advance(5 * MINUTE_MS + 1)
    const quitar = { accion: 'quitar', cual: passkey }
    const sentRequest = await visit('/cuenta', quitar)
    expect(sentRequest.destino).toBe(
      `${environment.url}/cuenta/presencia?volver=${encodeURIComponent(`/cuenta?quitar=${passkey}`)}`,
    )
    await visit('/cuenta/presencia', { volver: `/cuenta?quitar=${passkey}` })
    const { codigo } = await findPendingCorreo(environment, 'codigo', ana.correo)
    const { destino } = await visit('/cuenta/presencia/codigo', { codigo, volver: `/cuenta?quitar=${passkey}` })
    for (let i = 0; i < 2; i++) expect((await visit(destino!)).texto).toContain('¿Quita la passkey de')
    expect(await visit('/cuenta', quitar)).toMatchObject({ status: 303, a: '/cuenta' })
    const after = (await visit(destino!)).texto
    expect([after.includes(passkey), after.includes('¿Quita la passkey de')]).toEqual([false, false])
  })

  it('leads to the sign-in without a session, and takes no form of another site', async () => {
    const { visit, codigo } = await late()
    expect(await createScriptlessBrowser(environment).visit(PAGINA)).toMatchObject({ status: 303, a: '/entrar' })
    expect(await createScriptlessBrowser(environment).visit('/cuenta/presencia', { volver: '' })).toMatchObject({
      status: 303,
      a: '/entrar',
    })
    await visit('/cuenta/presencia', { volver: '/cuenta' })
    for (const [path, fields] of [
      ['/cuenta/presencia', { volver: '/cuenta' }],
      ['/cuenta/presencia/codigo', { codigo: await codigo(), volver: '/cuenta' }],
    ] as const) {
      const { status, headers } = await visit(path, fields, { Origin: 'https://malo.example' })
      expect([path, status]).toEqual([path, 403])
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    }
    expect((await visit(PAGINA)).status).toBe(200)
    expect((await visit('/cuenta/presencia/otra')).status).toBe(404)
  })

  it('takes no code that another person asked for', async () => {
    const [ana, bea] = [await late(), await late()]
    environment.advance(5 * MINUTE_MS + 1)
    await bea.visit('/cuenta/presencia', { volver: '/cuenta' })
    ana.cookies.set('guias_entrada', bea.cookies.get('guias_entrada')!)
    const { status } = await ana.visit('/cuenta/presencia/codigo', { codigo: await bea.codigo(), volver: '/cuenta' })
    expect([status, (await ana.visit(PAGINA)).status]).toEqual([401, 200])
  })
})

/** A person of the courier company with an app, in a browser without a program, late. */
async function createLateSessionWithApp() {
  const ana = await createTestPersona(environment)
  const browser = createScriptlessBrowser(environment, ana.cookie)
  environment.advance(5 * MINUTE_MS + 1)
  return { ana, ...browser }
}
const CORREO_TEXTS = /Mandar el código|Le mandamos|Pedir otro código/

describe('the page on which a person with a second factor proves to be there', () => {
  it('asks for the code of the app at once, and neither sends nor takes a code by mail', async () => {
    const { ana, visit } = await createLateSessionWithApp()
    for (const path of [PAGINA, PAGINA.replace('presencia', 'presencia/codigo')]) {
      const { status, texto: text } = await visit(path)
      expect([status, text]).toEqual([200, expect.stringContaining('Escriba las seis cifras de su app de códigos.')])
      expect(text).toContain(`name="volver" value="${RETURN_PATH}"`)
      expect(text).not.toMatch(CORREO_TEXTS)
    }
    expect((await visit('/cuenta/presencia', { volver: RETURN_PATH })).destino).toBe(environment.url + PAGINA)
    expect(await findPendingCorreo(environment, 'codigo', ana.correo)).toBeUndefined()
    const { codigo: mailedCode, signInCookie: input } = await requestCode(environment, ana.correo)
    const Cookie = `${ana.cookie}; ${input}`
    const bad = await visit('/cuenta/presencia/codigo', { codigo: mailedCode!, volver: RETURN_PATH }, { Cookie })
    expect([bad.status, bad.texto]).toEqual([401, expect.stringContaining('Espere el siguiente de su app')])
    expect(bad.texto).toContain(`name="volver" value="${RETURN_PATH}"`)
    expect(bad.texto).not.toMatch(CORREO_TEXTS)
    const response = await visit('/cuenta/presencia/codigo', { codigo: ana.app!.codigo(), volver: RETURN_PATH })
    expect([response.status, response.destino]).toEqual([303, environment.url + RETURN_PATH])
  })

  it('offers only the passkey to a person who has no other factor, and takes a recovery code', async () => {
    const [ana, bea] = [
      await createTestPersona(environment, { withApp: false }),
      await createTestPersona(environment, { withApp: false }),
    ]
    const [sola, withCodigos] = [await addPasskey(environment, ana), await addPasskey(environment, bea)]
    const [codigo = ''] = await makeRecoveryCodes(withCodigos)
    environment.advance(5 * MINUTE_MS + 1)
    const { texto: text } = await createScriptlessBrowser(environment, sola.cookie).visit(PAGINA)
    expect(text).toContain('data-hace="probar"')
    expect(text).not.toMatch(/name="codigo"/)
    expect(text).not.toMatch(CORREO_TEXTS)
    const { visit } = createScriptlessBrowser(environment, withCodigos.cookie)
    expect((await visit(PAGINA)).texto).toMatch(/Escriba un código de recuperación\..*data-hace="probar"/s)
    expect((await visit('/cuenta/presencia/codigo', { codigo, volver: RETURN_PATH })).destino).toBe(
      environment.url + RETURN_PATH,
    )
    expect((await visit(PAGINA)).destino).toBe(environment.url + RETURN_PATH)
  })

  it('refuses a right code after the ten failures of a day', async () => {
    const { ana, visit } = await createLateSessionWithApp()
    await environment.db.pool.query(
      `update segundo_factor set intentos = 10, intentos_desde = $2
       where persona_id = (select id from persona where persona = $1)`,
      [ana.persona, environment.clock()],
    )
    const proven = await visit('/cuenta/presencia/codigo', { codigo: ana.app!.codigo(), volver: '/cuenta' })
    expect([proven.status, proven.texto]).toEqual([429, expect.stringContaining('espere un día')])
  })

  it('is where all late changes of the second factor lead', async () => {
    const { visit } = await createLateSessionWithApp()
    for (const accion of ['app', 'confirmar', 'codigos', 'quitarApp']) {
      const { destino } = await visit('/cuenta', { accion, cual: '', codigo: 'x' })
      expect([accion, destino]).toEqual([accion, `${environment.url}/cuenta/presencia?volver=%2Fcuenta`])
    }
  })
})

/** Texts that a browser could take for another site, or that would become a header. */
const FOREIGN_PATHS = [
  'https://malo.example/cuenta',
  '//malo.example',
  '/\\malo.example',
  '\\\\malo.example',
  '/%2F/malo.example',
  '/ /malo.example',
  '/\t/malo.example',
  'javascript:alert(1)',
  'cuenta',
  '/../..//malo.example',
  '/.malo.example',
  '/cuenta?volver=//malo.example',
  '/cuenta?a=b#c',
  '/cuenta\r\nSet-Cookie: a=b',
  '/@malo.example',
  `/${'a'.repeat(600)}`,
  '',
]

describe('the path to which the page returns', () => {
  it('is one of this service, else that of the account', async () => {
    expect(FOREIGN_PATHS.map(returnPath)).toEqual(FOREIGN_PATHS.map(() => '/cuenta'))
    expect([undefined, ['/central'], { a: '/central' }].map(returnPath)).toEqual(['/cuenta', '/cuenta', '/cuenta'])
    for (const own of ['/cuenta', '/central', '/central/equipo/per1', RETURN_PATH]) expect(returnPath(own)).toBe(own)
  })

  it('never leaves the service, by query or by form', async () => {
    const { ana, visit, codigo } = await late()
    for (const foreign of FOREIGN_PATHS) {
      const view = await visit(`/cuenta/presencia?volver=${encodeURIComponent(foreign)}`)
      expect(view.texto).toContain('name="volver" value="/cuenta"')
    }
    await visit('/cuenta/presencia', { volver: '//malo.example' })
    const { destino } = await visit('/cuenta/presencia/codigo', { codigo: await codigo(), volver: '//malo.example' })
    expect(destino).toBe(`${environment.url}/cuenta`)
    for (const foreign of FOREIGN_PATHS) {
      const listo = await createScriptlessBrowser(environment, ana.cookie).visit(
        `/cuenta/presencia?volver=${encodeURIComponent(foreign)}`,
      )
      expect(listo.destino).toBe(`${environment.url}/cuenta`)
    }
  })
})
