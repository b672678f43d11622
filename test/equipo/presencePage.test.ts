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
  const navegador = createScriptlessBrowser(environment, ana.cookie)
  environment.advance(5 * MINUTE_MS + 1)
  const codigo = async () => (await findPendingCorreo(environment, 'codigo', ana.correo)).codigo as string
  return { ana, ...navegador, codigo }
}
const VOLVER = '/cuenta?quitar=pas_0123456789AB'
const PAGINA = `/cuenta/presencia?volver=${encodeURIComponent(VOLVER)}`

describe('the page on which a person proves to be there', () => {
  it('sends a code, takes it, and returns to what the person was doing, without a program', async () => {
    const { ana, visit: ir, cookies: guardadas, codigo } = await late()
    const first = await ir(PAGINA)
    expect([first.status, first.texto]).toEqual([200, expect.stringContaining(`Le mandamos un código a ${ana.correo}`)])
    expect(first.texto).toContain(`name="volver" value="${VOLVER}"`)
    const mandado = await ir('/cuenta/presencia', { volver: VOLVER })
    expect([mandado.status, mandado.destino]).toEqual([
      303,
      `${environment.url}/cuenta/presencia/codigo?volver=${encodeURIComponent(VOLVER)}`,
    ])
    const second = await ir(mandado.destino!)
    expect([second.status, second.texto]).toEqual([200, expect.stringContaining('autocomplete="one-time-code"')])
    const bad = await ir('/cuenta/presencia/codigo', { codigo: 'x', volver: VOLVER })
    expect([bad.status, bad.texto]).toEqual([401, expect.stringContaining('El código no vale')])
    expect(bad.texto).toContain(`name="volver" value="${VOLVER}"`)
    const hecha = await ir('/cuenta/presencia/codigo', { codigo: await codigo(), volver: VOLVER })
    expect([hecha.status, hecha.destino]).toEqual([303, environment.url + VOLVER])
    expect([...guardadas.keys()]).toEqual(['guias_sesion'])
    // Who is there already is not asked again.
    expect((await ir(PAGINA)).destino).toBe(environment.url + VOLVER)
  })

  it('is offered to a person who removes a passkey late, and another click removes the passkey', async () => {
    const ana = await createComercioPersona(environment)
    await addPasskey(environment, ana)
    const { visit: ir } = createScriptlessBrowser(environment, ana.cookie)
    const [, passkey = ''] = /name="cual" value="(pas_[^"]+)"/.exec((await ir('/cuenta')).texto) ?? []
    environment.advance(5 * MINUTE_MS + 1)
    const quitar = { accion: 'quitar', cual: passkey }
    const pedida = await ir('/cuenta', quitar)
    expect(pedida.destino).toBe(
      `${environment.url}/cuenta/presencia?volver=${encodeURIComponent(`/cuenta?quitar=${passkey}`)}`,
    )
    await ir('/cuenta/presencia', { volver: `/cuenta?quitar=${passkey}` })
    const { codigo } = await findPendingCorreo(environment, 'codigo', ana.correo)
    const { destino } = await ir('/cuenta/presencia/codigo', { codigo, volver: `/cuenta?quitar=${passkey}` })
    for (let i = 0; i < 2; i++) expect((await ir(destino!)).texto).toContain('¿Quita la passkey de')
    expect(await ir('/cuenta', quitar)).toMatchObject({ status: 303, a: '/cuenta' })
    const after = (await ir(destino!)).texto
    expect([after.includes(passkey), after.includes('¿Quita la passkey de')]).toEqual([false, false])
  })

  it('leads to the sign-in without a session, and takes no form of another site', async () => {
    const { visit: ir, codigo } = await late()
    expect(await createScriptlessBrowser(environment).visit(PAGINA)).toMatchObject({ status: 303, a: '/entrar' })
    expect(await createScriptlessBrowser(environment).visit('/cuenta/presencia', { volver: '' })).toMatchObject({
      status: 303,
      a: '/entrar',
    })
    await ir('/cuenta/presencia', { volver: '/cuenta' })
    for (const [path, campos] of [
      ['/cuenta/presencia', { volver: '/cuenta' }],
      ['/cuenta/presencia/codigo', { codigo: await codigo(), volver: '/cuenta' }],
    ] as const) {
      const { status, cabeceras } = await ir(path, campos, { Origin: 'https://malo.example' })
      expect([path, status]).toEqual([path, 403])
      expect(cabeceras.get('content-security-policy')).toContain("frame-ancestors 'none'")
    }
    expect((await ir(PAGINA)).status).toBe(200)
    expect((await ir('/cuenta/presencia/otra')).status).toBe(404)
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
async function tardeConApp() {
  const ana = await createTestPersona(environment)
  const navegador = createScriptlessBrowser(environment, ana.cookie)
  environment.advance(5 * MINUTE_MS + 1)
  return { ana, ...navegador }
}
const SIN_CORREO = /Mandar el código|Le mandamos|Pedir otro código/

describe('the page on which a person with a second factor proves to be there', () => {
  it('asks for the code of the app at once, and neither sends nor takes a code by mail', async () => {
    const { ana, visit: ir } = await tardeConApp()
    for (const path of [PAGINA, PAGINA.replace('presencia', 'presencia/codigo')]) {
      const { status, texto } = await ir(path)
      expect([status, texto]).toEqual([200, expect.stringContaining('Escriba las seis cifras de su app de códigos.')])
      expect(texto).toContain(`name="volver" value="${VOLVER}"`)
      expect(texto).not.toMatch(SIN_CORREO)
    }
    expect((await ir('/cuenta/presencia', { volver: VOLVER })).destino).toBe(environment.url + PAGINA)
    expect(await findPendingCorreo(environment, 'codigo', ana.correo)).toBeUndefined()
    const { codigo: porCorreo, signInCookie: input } = await requestCode(environment, ana.correo)
    const Cookie = `${ana.cookie}; ${input}`
    const bad = await ir('/cuenta/presencia/codigo', { codigo: porCorreo!, volver: VOLVER }, { Cookie })
    expect([bad.status, bad.texto]).toEqual([401, expect.stringContaining('Espere el siguiente de su app')])
    expect(bad.texto).toContain(`name="volver" value="${VOLVER}"`)
    expect(bad.texto).not.toMatch(SIN_CORREO)
    const hecha = await ir('/cuenta/presencia/codigo', { codigo: ana.app!.codigo(), volver: VOLVER })
    expect([hecha.status, hecha.destino]).toEqual([303, environment.url + VOLVER])
  })

  it('offers only the passkey to a person who has no other factor, and takes a recovery code', async () => {
    const [ana, bea] = [
      await createTestPersona(environment, { conApp: false }),
      await createTestPersona(environment, { conApp: false }),
    ]
    const [sola, conCodigos] = [await addPasskey(environment, ana), await addPasskey(environment, bea)]
    const [codigo = ''] = await makeRecoveryCodes(conCodigos)
    environment.advance(5 * MINUTE_MS + 1)
    const { texto } = await createScriptlessBrowser(environment, sola.cookie).visit(PAGINA)
    expect(texto).toContain('data-hace="probar"')
    expect(texto).not.toMatch(/name="codigo"/)
    expect(texto).not.toMatch(SIN_CORREO)
    const { visit: ir } = createScriptlessBrowser(environment, conCodigos.cookie)
    expect((await ir(PAGINA)).texto).toMatch(/Escriba un código de recuperación\..*data-hace="probar"/s)
    expect((await ir('/cuenta/presencia/codigo', { codigo, volver: VOLVER })).destino).toBe(environment.url + VOLVER)
    expect((await ir(PAGINA)).destino).toBe(environment.url + VOLVER)
  })

  it('refuses a right code after the ten failures of a day', async () => {
    const { ana, visit: ir } = await tardeConApp()
    await environment.db.pool.query(
      `update segundo_factor set intentos = 10, intentos_desde = $2
       where persona_id = (select id from persona where persona = $1)`,
      [ana.persona, environment.clock()],
    )
    const bien = await ir('/cuenta/presencia/codigo', { codigo: ana.app!.codigo(), volver: '/cuenta' })
    expect([bien.status, bien.texto]).toEqual([429, expect.stringContaining('espere un día')])
  })

  it('is where all late changes of the second factor lead', async () => {
    const { visit: ir } = await tardeConApp()
    for (const accion of ['app', 'confirmar', 'codigos', 'quitarApp']) {
      const { destino } = await ir('/cuenta', { accion, cual: '', codigo: 'x' })
      expect([accion, destino]).toEqual([accion, `${environment.url}/cuenta/presencia?volver=%2Fcuenta`])
    }
  })
})

/** Texts that a browser could take for another site, or that would become a header. */
const AJENOS = [
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
    expect(AJENOS.map(returnPath)).toEqual(AJENOS.map(() => '/cuenta'))
    expect([undefined, ['/central'], { a: '/central' }].map(returnPath)).toEqual(['/cuenta', '/cuenta', '/cuenta'])
    for (const own of ['/cuenta', '/central', '/central/equipo/per1', VOLVER]) expect(returnPath(own)).toBe(own)
  })

  it('never leaves the service, by query or by form', async () => {
    const { ana, visit: ir, codigo } = await late()
    for (const foreign of AJENOS) {
      const view = await ir(`/cuenta/presencia?volver=${encodeURIComponent(foreign)}`)
      expect(view.texto).toContain('name="volver" value="/cuenta"')
    }
    await ir('/cuenta/presencia', { volver: '//malo.example' })
    const { destino } = await ir('/cuenta/presencia/codigo', { codigo: await codigo(), volver: '//malo.example' })
    expect(destino).toBe(`${environment.url}/cuenta`)
    for (const foreign of AJENOS) {
      const listo = await createScriptlessBrowser(environment, ana.cookie).visit(
        `/cuenta/presencia?volver=${encodeURIComponent(foreign)}`,
      )
      expect(listo.destino).toBe(`${environment.url}/cuenta`)
    }
  })
})
