import { describe, expect, it } from 'vitest'
import { qrOf } from '../../server/platform/pdf/barcodes.ts'
import { useEnvironment } from '../environment.ts'
import { createCorreoAddress, createTestPersona, findPendingCorreo } from './persona.ts'
import { createScriptlessBrowser } from './withoutScript.ts'

const environment = useEnvironment()

const nuevoNavegador = () => createScriptlessBrowser(environment)

describe('the pages on which a person signs in', () => {
  it('ask for the address and then for the code, and lead to the account', async () => {
    const { correo, app } = await createTestPersona(environment)
    const { visit: ir, cookies: guardadas } = nuevoNavegador()
    const first = await ir('/entrar')
    expect([first.status, first.texto]).toEqual([200, expect.stringContaining('name="correo"')])
    expect(await ir('/cuenta')).toMatchObject({ status: 303, a: '/entrar' })
    expect(await ir('/entrar', { correo })).toMatchObject({ status: 303, a: '/entrar/codigo' })
    expect((await ir('/entrar/codigo')).texto).toContain('autocomplete="one-time-code"')
    const bad = await ir('/entrar/codigo', { codigo: 'x' })
    expect([bad.status, bad.texto]).toEqual([401, expect.stringContaining('El código no vale')])
    const { codigo } = await findPendingCorreo(environment, 'codigo', correo)
    expect(await ir('/entrar/codigo', { codigo })).toMatchObject({ status: 303, a: '/entrar/segundo-factor' })
    expect([...guardadas.keys()]).toEqual(['guias_a_medias'])
    expect((await ir('/entrar/segundo-factor')).texto).toContain('Escriba las seis cifras de su app de códigos.')
    const peor = await ir('/entrar/segundo-factor', { codigo: 'x' })
    expect([peor.status, peor.texto]).toEqual([401, expect.stringContaining('El código no vale')])
    const last = await ir('/entrar/segundo-factor', { codigo: app!.codigo() })
    expect(last).toMatchObject({ status: 303, a: '/cuenta' })
    expect([...guardadas.keys()]).toEqual(['guias_sesion', 'guias_conocido'])
    const cuenta = await ir('/cuenta')
    expect([cuenta.status, cuenta.texto]).toEqual([200, expect.stringContaining(correo)])
    expect(await ir('/cuenta', { accion: 'salir', cual: '' })).toMatchObject({ status: 303, a: '/entrar' })
    expect([...guardadas.keys()]).toEqual(['guias_conocido'])
  })

  it('say the same for an address of nobody, and what is wrong with one that is none', async () => {
    const { visit: ir } = nuevoNavegador()
    expect(await ir('/entrar', { correo: createCorreoAddress() })).toMatchObject({ status: 303, a: '/entrar/codigo' })
    const bad = await ir('/entrar', { correo: '"><b>ana' })
    expect([bad.status, bad.texto]).toEqual([422, expect.stringContaining('Escriba una dirección de correo')])
    expect(bad.texto).not.toContain('<b>ana')
  })

  it('take no form of another site, cannot be framed, and are kept by no cache', async () => {
    const { correo } = await createTestPersona(environment)
    const { visit: ir } = nuevoNavegador()
    for (const [path, campos] of [
      ['/entrar', { correo }],
      ['/entrar/codigo', { codigo: '000000' }],
      [`/invitacion/${'A'.repeat(43)}`, {}],
      ['/cuenta', { accion: 'salir', cual: '' }],
      ['/cuenta/correo', { correo }],
      ['/cuenta/correo/codigo', { codigo: '000000' }],
    ] as const) {
      const { status, cabeceras } = await ir(path, campos, { Origin: 'https://malo.example' })
      expect([path, status]).toEqual([path, 403])
      expect(cabeceras.get('content-security-policy')).toContain("frame-ancestors 'none'")
      expect(cabeceras.get('content-security-policy')).toContain("form-action 'self'")
      expect(cabeceras.get('cache-control')).toBe('no-store')
      expect(cabeceras.get('referrer-policy')).toBe('same-origin')
    }
    expect((await ir('/entrar', { nadie: 'x' })).status).toBe(400)
    expect((await fetch(`${environment.url}/entrar`, { method: 'PUT' })).status).toBe(405)
    expect((await fetch(`${environment.url}/entrar/otra`)).status).toBe(404)
  })
})

it('the page of the second factor tells what to do after ten failures', async () => {
  const { correo } = await createTestPersona(environment)
  const { visit: ir } = nuevoNavegador()
  const fallar = async (times: number) => {
    await ir('/entrar', { correo })
    await ir('/entrar/codigo', { codigo: (await findPendingCorreo(environment, 'codigo', correo)).codigo })
    for (let i = 0; i < times; i++) expect((await ir('/entrar/segundo-factor', { codigo: 'x' })).status).toBe(401)
  }
  await fallar(5)
  expect(await ir('/entrar/segundo-factor', { codigo: 'x' })).toMatchObject({ status: 303, a: '/entrar' })
  await fallar(5)
  await fallar(0)
  const { status, texto, cabeceras } = await ir('/entrar/segundo-factor', { codigo: 'x' })
  expect([status, texto]).toEqual([429, expect.stringContaining('Entre con una passkey, espere un día')])
  expect(Number(cabeceras.get('retry-after'))).toBeGreaterThan(86_000)
})

describe('the page of an invitation', () => {
  const invitar = async (correo: string, more: object = {}) => {
    await environment.operar('POST', '/invitaciones', { correo, nombre: 'Ana', alcances: ['ver'], ...more })
    return new URL((await findPendingCorreo(environment, 'invitacion', correo)).enlace).pathname
  }

  it('changes nothing when it is opened, however often, and accepts with its button', async () => {
    const { comercio } = await environment.createComercio()
    const path = await invitar(createCorreoAddress(), { comercio, alcances: ['despacho'] })
    const { visit: ir, cookies: guardadas } = nuevoNavegador()
    for (let i = 0; i < 3; i++) {
      const { status, texto } = await ir(path)
      expect([status, texto]).toEqual([200, expect.stringContaining('Le invitan a Tienda La Ceiba')])
      expect((await fetch(environment.url + path, { method: 'HEAD' })).status).toBe(200)
    }
    expect(guardadas.size).toBe(0)
    expect(await ir(path, {})).toMatchObject({ status: 303, a: '/cuenta' })
    expect((await ir('/cuenta')).texto).toContain('Tienda La Ceiba')
    const other = await nuevoNavegador().visit(path)
    expect([other.status, other.texto]).toEqual([410, expect.stringContaining('El enlace ya no vale')])
  })
})

describe('the page of an account', () => {
  it('draws the secret of an app as the QR code of its address, within the page', async () => {
    const ana = await createTestPersona(environment, { conApp: false })
    const { visit: ir, cookies: guardadas } = nuevoNavegador()
    guardadas.set('guias_sesion', ana.cookie.split('=')[1]!)
    const { texto, cabeceras } = await ir('/cuenta', { accion: 'app', cual: '' })
    expect(cabeceras.get('cache-control')).toBe('no-store')
    const uri = /href="(otpauth:[^"]+)"/.exec(texto)![1]!.replaceAll('&amp;', '&')
    const { side: lado, modules: modulos } = qrOf(uri)!
    const oscuros = Array.from({ length: lado * lado }, (_nada, i) => i).filter((i) => modulos[i])
    const dibujados = [...texto.matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(
      ([, x, y]) => (Number(y) - 4) * lado + Number(x) - 4,
    )
    expect(dibujados).toEqual(oscuros)
    expect(texto).toContain(`viewBox="0 0 ${lado + 8} ${lado + 8}"`)
  })

  it('only adds a second factor or signs out in a session without one', async () => {
    const ana = await createTestPersona(environment, { conApp: false })
    const { visit: ir, cookies: guardadas } = nuevoNavegador()
    guardadas.set('guias_sesion', ana.cookie.split('=')[1]!)
    expect((await ir('/cuenta')).texto).toContain('Falta su segundo factor')
    for (const accion of ['elegir', 'cerrar', 'quitar', 'codigos', 'quitarApp', 'aprobar', 'rechazar', 'retirar']) {
      const { status, a } = await ir('/cuenta', { accion, cual: ana.sesion, razon: 'x' })
      expect([accion, status, a]).toEqual([accion, 303, '/cuenta'])
    }
    expect((await ana.request('GET', '/operaciones/v1/sesion')).status).toBe(200)
    const { rows } = await environment.db.pool.query(
      'select count(*)::int as n from codigo_de_recuperacion c join persona p on p.id = c.persona_id where persona = $1',
      [ana.persona],
    )
    expect(rows).toEqual([{ n: 0 }])
    expect(await ir('/cuenta', { accion: 'salir', cual: '' })).toMatchObject({ status: 303, a: '/entrar' })
  })

  it('goes on with another membership, and ends another session', async () => {
    const { comercio } = await environment.createComercio()
    const ana = await createTestPersona(environment, { comercio, alcances: ['cobros'] })
    const empresa = await createTestPersona(environment, { correo: ana.correo, alcances: ['ver'] })
    const { visit: ir, cookies: guardadas } = nuevoNavegador()
    guardadas.set('guias_sesion', empresa.cookie.split('=')[1]!)
    const before = await ir('/cuenta')
    expect(before.texto).toContain(`name="cual" value="${ana.membresia}"`)
    expect(before.texto).toContain(`name="cual" value="${ana.sesion}"`)
    expect(await ir('/cuenta', { accion: 'elegir', cual: ana.membresia })).toMatchObject({ status: 303, a: '/cuenta' })
    await ir('/cuenta', { accion: 'cerrar', cual: ana.sesion })
    const after = await ir('/cuenta')
    expect(after.texto).toContain(`name="cual" value="${empresa.membresia}"`)
    expect(after.texto).not.toContain(ana.sesion)
  })
})
