import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../../server/platform/time/units.ts'
import { useEnvironment } from '../../environment.ts'
import {
  addApp,
  createCorreoAddress,
  createTestPersona,
  findPendingCorreo,
  toCookieHeader,
  useInvitaciones,
} from '../persona.ts'

const environment = useEnvironment()
const { aceptar, invitar, tokenOf } = useInvitaciones(environment)

describe('an invitation', () => {
  it('is mailed, and its link makes a person once', async () => {
    const correo = createCorreoAddress()
    const { status, body } = await invitar({ correo: correo.toUpperCase() })
    expect([status, body]).toMatchObject([201, { correo, comercio: null, alcances: ['ver'] }])
    expect(Date.parse(body.vence_en) - Date.parse(body.creado_en)).toBe(24 * HOUR_MS)
    expect(JSON.stringify(body)).not.toMatch(/token|enlace/)
    const datos = await findPendingCorreo(environment, 'invitacion', correo)
    expect(datos).toMatchObject({ nombre: 'Ana Pérez', lugar: null, horas: 24 })
    expect(datos.enlace).toMatch(
      new RegExp(`^${environment.url.replace('127.0.0.1', 'localhost')}/invitacion/[\\w-]{43}$`),
    )
    const token = await tokenOf(correo)
    const acceptedResults = await Promise.all(Array.from({ length: 5 }, () => aceptar(token)))
    expect(acceptedResults.map((one) => one.status).sort()).toEqual([201, 403, 403, 403, 403])
    await addApp(
      environment,
      toCookieHeader(acceptedResults.find(({ status }) => status === 201)!.headers).split('; ')[0]!,
    )
    const repeated = await invitar({ correo })
    expect([repeated.status, repeated.body.codigo]).toEqual([409, 'persona_repetida'])
  })

  it('is replaced by another to the same address and place', async () => {
    const correo = createCorreoAddress()
    await invitar({ correo })
    const first = await tokenOf(correo)
    await invitar({ correo, alcances: ['operar'] })
    expect((await aceptar(first)).body.codigo).toBe('enlace_invalido')
    const { body } = await aceptar(await tokenOf(correo))
    expect(body.membresias).toMatchObject([{ alcances: ['operar'] }])
  })

  it.each([
    [{ correo: 'ana' }, '/correo'],
    [{ correo: 'аna@ejemplo.com' }, '/correo'],
    [{ correo: 'ana@ejemplo.com\r\nBcc: x@y.com' }, '/correo'],
    [{ alcances: ['propietario'] }, '/alcances/0'],
    [{ alcances: ['ver', 'nadie'] }, '/alcances/1'],
    [{ alcances: [] }, '/alcances'],
    [{ nombre: '' }, '/nombre'],
  ])('%o is refused', async (bad, field) => {
    const { status, body } = await invitar({ correo: createCorreoAddress(), ...bad })
    expect([status, body.errores.map((one: { campo: string }) => one.campo)]).toEqual([422, [field]])
  })

  it('to a merchant takes the merchant’s scopes, and an unknown merchant is a 404', async () => {
    const { comercio } = await environment.createComercio()
    const bad = await invitar({ correo: createCorreoAddress(), comercio, alcances: ['ver'] })
    expect([bad.status, bad.body.errores[0].campo]).toEqual([422, '/alcances/0'])
    const nobody = await invitar({
      correo: createCorreoAddress(),
      comercio: 'com_000000000000',
      alcances: ['despacho'],
    })
    expect([nobody.status, nobody.body.codigo]).toEqual([404, 'comercio_desconocido'])
  })

  it('gives no scope that the caller lacks', async () => {
    const llave = await environment.createOperacionLlave(['administrar'])
    const body = { correo: createCorreoAddress(), nombre: 'x', alcances: ['administrar', 'caja'] }
    const refusal = await environment.request('POST', '/operaciones/v1/invitaciones', { llave, body })
    expect([refusal.status, refusal.body.mensaje]).toEqual([403, expect.stringContaining('el alcance caja')])
    const admin = await createTestPersona(environment, { alcances: ['administrar'] })
    expect((await admin.request('POST', '/operaciones/v1/invitaciones', body)).status).toBe(403)
    const administrator = { ...body, alcances: ['administrar'] }
    expect(
      (await environment.request('POST', '/operaciones/v1/invitaciones', { llave, body: administrator })).status,
    ).toBe(201)
  })
})
