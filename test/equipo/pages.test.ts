import { describe, expect, it } from 'vitest'
import { qrOf } from '../../server/platform/pdf/barcodes.ts'
import { useEnvironment } from '../environment.ts'
import { createCorreoAddress, createTestPersona, findPendingCorreo } from './persona.ts'
import { createScriptlessBrowser } from './withoutScript.ts'

const environment = useEnvironment()

const createBrowser = () => createScriptlessBrowser(environment)

describe('the pages on which a person signs in', () => {
  it('ask for the address and then for the code, and lead to the account', async () => {
    const { correo, app } = await createTestPersona(environment)
    const { visit, cookies: savedCookies } = createBrowser()
    const first = await visit('/entrar')
    expect([first.status, first.texto]).toEqual([200, expect.stringContaining('name="correo"')])
    expect(await visit('/cuenta')).toMatchObject({ status: 303, a: '/entrar' })
    expect(await visit('/entrar', { correo })).toMatchObject({ status: 303, a: '/entrar/codigo' })
    expect((await visit('/entrar/codigo')).texto).toContain('autocomplete="one-time-code"')
    const bad = await visit('/entrar/codigo', { codigo: 'x' })
    expect([bad.status, bad.texto]).toEqual([401, expect.stringContaining('El código no vale')])
    const { codigo } = await findPendingCorreo(environment, 'codigo', correo)
    expect(await visit('/entrar/codigo', { codigo })).toMatchObject({ status: 303, a: '/entrar/segundo-factor' })
    expect([...savedCookies.keys()]).toEqual(['guias_a_medias'])
    expect((await visit('/entrar/segundo-factor')).texto).toContain('Escriba las seis cifras de su app de códigos.')
    const wrongCodePage = await visit('/entrar/segundo-factor', { codigo: 'x' })
    expect([wrongCodePage.status, wrongCodePage.texto]).toEqual([401, expect.stringContaining('El código no vale')])
    const last = await visit('/entrar/segundo-factor', { codigo: app!.codigo() })
    expect(last).toMatchObject({ status: 303, a: '/cuenta' })
    expect([...savedCookies.keys()]).toEqual(['guias_sesion', 'guias_conocido'])
    const cuentaPage = await visit('/cuenta')
    expect([cuentaPage.status, cuentaPage.texto]).toEqual([200, expect.stringContaining(correo)])
    expect(await visit('/cuenta', { accion: 'salir', cual: '' })).toMatchObject({ status: 303, a: '/entrar' })
    expect([...savedCookies.keys()]).toEqual(['guias_conocido'])
  })

  it('say the same for an address of nobody, and what is wrong with one that is none', async () => {
    const { visit } = createBrowser()
    expect(await visit('/entrar', { correo: createCorreoAddress() })).toMatchObject({
      status: 303,
      a: '/entrar/codigo',
    })
    const bad = await visit('/entrar', { correo: '"><b>ana' })
    expect([bad.status, bad.texto]).toEqual([422, expect.stringContaining('Escriba una dirección de correo')])
    expect(bad.texto).not.toContain('<b>ana')
  })

  it('take no form of another site, cannot be framed, and are kept by no cache', async () => {
    const { correo } = await createTestPersona(environment)
    const { visit } = createBrowser()
    for (const [path, fields] of [
      ['/entrar', { correo }],
      ['/entrar/codigo', { codigo: '000000' }],
      [`/invitacion/${'A'.repeat(43)}`, {}],
      ['/cuenta', { accion: 'salir', cual: '' }],
      ['/cuenta/correo', { correo }],
      ['/cuenta/correo/codigo', { codigo: '000000' }],
    ] as const) {
      const { status, headers } = await visit(path, fields, { Origin: 'https://malo.example' })
      expect([path, status]).toEqual([path, 403])
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      expect(headers.get('content-security-policy')).toContain("form-action 'self'")
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('referrer-policy')).toBe('same-origin')
    }
    expect((await visit('/entrar', { nadie: 'x' })).status).toBe(400)
    expect((await fetch(`${environment.url}/entrar`, { method: 'PUT' })).status).toBe(405)
    expect((await fetch(`${environment.url}/entrar/otra`)).status).toBe(404)
  })
})

it('the page of the second factor tells what to do after ten failures', async () => {
  const { correo } = await createTestPersona(environment)
  const { visit } = createBrowser()
  const fail = async (times: number) => {
    await visit('/entrar', { correo })
    await visit('/entrar/codigo', { codigo: (await findPendingCorreo(environment, 'codigo', correo)).codigo })
    for (let i = 0; i < times; i++) expect((await visit('/entrar/segundo-factor', { codigo: 'x' })).status).toBe(401)
  }
  await fail(5)
  expect(await visit('/entrar/segundo-factor', { codigo: 'x' })).toMatchObject({ status: 303, a: '/entrar' })
  await fail(5)
  await fail(0)
  const { status, texto: text, headers } = await visit('/entrar/segundo-factor', { codigo: 'x' })
  expect([status, text]).toEqual([429, expect.stringContaining('Entre con una passkey, espere un día')])
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(86_000)
})

describe('the page of an invitation', () => {
  const invitar = async (correo: string, more: object = {}) => {
    await environment.asOperador('POST', '/invitaciones', { correo, nombre: 'Ana', alcances: ['ver'], ...more })
    return new URL((await findPendingCorreo(environment, 'invitacion', correo)).enlace).pathname
  }

  it('changes nothing when it is opened, however often, and accepts with its button', async () => {
    const { comercio } = await environment.createComercio()
    const path = await invitar(createCorreoAddress(), { comercio, alcances: ['despacho'] })
    const { visit, cookies: savedCookies } = createBrowser()
    for (let i = 0; i < 3; i++) {
      const { status, texto: text } = await visit(path)
      expect([status, text]).toEqual([200, expect.stringContaining('Le invitan a Tienda La Ceiba')])
      expect((await fetch(environment.url + path, { method: 'HEAD' })).status).toBe(200)
    }
    expect(savedCookies.size).toBe(0)
    expect(await visit(path, {})).toMatchObject({ status: 303, a: '/cuenta' })
    expect((await visit('/cuenta')).texto).toContain('Tienda La Ceiba')
    const other = await createBrowser().visit(path)
    expect([other.status, other.texto]).toEqual([410, expect.stringContaining('El enlace ya no vale')])
  })
})

describe('the page of an account', () => {
  it('draws the secret of an app as the QR code of its address, within the page', async () => {
    const ana = await createTestPersona(environment, { withApp: false })
    const { visit, cookies: savedCookies } = createBrowser()
    savedCookies.set('guias_sesion', ana.cookie.split('=')[1]!)
    const { texto: text, headers } = await visit('/cuenta', { accion: 'app', cual: '' })
    expect(headers.get('cache-control')).toBe('no-store')
    const uri = /href="(otpauth:[^"]+)"/.exec(text)![1]!.replaceAll('&amp;', '&')
    const { side, modules } = qrOf(uri)!
    const darkModules = Array.from({ length: side * side }, (_unused, i) => i).filter((i) => modules[i])
    const drawnModules = [...text.matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(
      ([, x, y]) => (Number(y) - 4) * side + Number(x) - 4,
    )
    expect(drawnModules).toEqual(darkModules)
    expect(text).toContain(`viewBox="0 0 ${side + 8} ${side + 8}"`)
  })

  it('only adds a second factor or signs out in a session without one', async () => {
    const ana = await createTestPersona(environment, { withApp: false })
    const { visit, cookies: savedCookies } = createBrowser()
    savedCookies.set('guias_sesion', ana.cookie.split('=')[1]!)
    expect((await visit('/cuenta')).texto).toContain('Falta su segundo factor')
    for (const accion of ['elegir', 'cerrar', 'quitar', 'codigos', 'quitarApp', 'aprobar', 'rechazar', 'retirar']) {
      const { status, a } = await visit('/cuenta', { accion, cual: ana.sesion, razon: 'x' })
      expect([accion, status, a]).toEqual([accion, 303, '/cuenta'])
    }
    expect((await ana.request('GET', '/operaciones/v1/sesion')).status).toBe(200)
    const { rows } = await environment.db.pool.query(
      'select count(*)::int as n from codigo_de_recuperacion c join persona p on p.id = c.persona_id where persona = $1',
      [ana.persona],
    )
    expect(rows).toEqual([{ n: 0 }])
    expect(await visit('/cuenta', { accion: 'salir', cual: '' })).toMatchObject({ status: 303, a: '/entrar' })
  })

  it('goes on with another membership, and ends another session', async () => {
    const { comercio } = await environment.createComercio()
    const ana = await createTestPersona(environment, { comercio, alcances: ['cobros'] })
    const company = await createTestPersona(environment, { correo: ana.correo, alcances: ['ver'] })
    const { visit, cookies: savedCookies } = createBrowser()
    savedCookies.set('guias_sesion', company.cookie.split('=')[1]!)
    const before = await visit('/cuenta')
    expect(before.texto).toContain(`name="cual" value="${ana.membresia}"`)
    expect(before.texto).toContain(`name="cual" value="${ana.sesion}"`)
    expect(await visit('/cuenta', { accion: 'elegir', cual: ana.membresia })).toMatchObject({
      status: 303,
      a: '/cuenta',
    })
    await visit('/cuenta', { accion: 'cerrar', cual: ana.sesion })
    const after = await visit('/cuenta')
    expect(after.texto).toContain(`name="cual" value="${company.membresia}"`)
    expect(after.texto).not.toContain(ana.sesion)
  })
})
