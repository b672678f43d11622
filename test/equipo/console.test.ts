import { describe, expect, it } from 'vitest'
import type { Deps } from '../../server/domain/deps.ts'
import { inviteFirstPersona } from '../../server/domain/equipo/members/invitar.ts'
import { consoleEnvironment, runInProcess } from '../console.ts'
import { useEnvironment } from '../environment.ts'
import { addApp, createCorreoAddress, findPendingCorreo, requestFromPage, toCookieHeader } from './persona.ts'

const environment = useEnvironment()
const admin = async (...args: string[]) => {
  const { codigo, output, errores } = await runInProcess(['personas', ...args, '--json'], {
    ...consoleEnvironment(environment),
    PUBLIC_URL: 'http://127.0.0.1:3456',
  })
  return { codigo, errores, text: codigo === 0 ? JSON.parse(output) : undefined }
}
const aceptar = (link: string, more: object = {}) =>
  requestFromPage(environment, '', [
    'POST',
    '/operaciones/v1/sesion/invitacion',
    { token: link.split('/').at(-1), ...more },
  ])

describe('the first person', () => {
  const first = () =>
    inviteFirstPersona({
      db: environment.db,
      clock: environment.clock,
      settings: { urlDePersonas: 'http://localhost:3000' },
    } as Pick<Deps, 'db' | 'clock' | 'settings'>)

  it('can be nobody else after the console has invited one', async () => {
    const link = (await first())!
    const correo = createCorreoAddress()
    const { text: message } = await admin('invitar', '--correo', correo, '--nombre', 'Ana')
    expect(message.codigo).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/)
    expect((await aceptar(message.enlace, { codigo: message.codigo })).status).toBe(201)
    const { status, body } = await aceptar(link, { correo: createCorreoAddress(), nombre: 'Eva' })
    expect([status, body.codigo]).toEqual([403, 'enlace_invalido'])
    await environment.db.pool.query('delete from sesion_persona')
    await environment.db.pool.query('delete from membresia')
    await environment.db.pool.query('delete from persona')
  })

  it('says address and name, once, and the link of an earlier start is over', async () => {
    const old = (await first())!
    const link = (await first())!
    expect(link).toMatch(/^http:\/\/localhost:3000\/invitacion\/[\w-]{43}$/)
    const caller = { correo: createCorreoAddress(), nombre: ' Ana Pérez ' }
    expect((await aceptar(old, caller)).body.codigo).toBe('enlace_invalido')
    const responseWithoutCorreo = await aceptar(link, { nombre: 'Ana' })
    expect([responseWithoutCorreo.status, responseWithoutCorreo.body.errores[0].campo]).toEqual([422, '/correo'])
    const caseWithoutName = await aceptar(link, { correo: caller.correo })
    expect([caseWithoutName.status, caseWithoutName.body.errores[0].campo]).toEqual([422, '/nombre'])
    const { status, body, headers } = await aceptar(link, caller)
    expect([status, body]).toMatchObject([201, { nombre: 'Ana Pérez', correo: caller.correo }])
    expect(body.membresias).toMatchObject([{ comercio: null, alcances: ['ver', 'operar', 'caja', 'administrar'] }])
    expect(await first()).toBeUndefined()
    const cookie = toCookieHeader(headers).split('; ')[0]!
    expect((await addApp(environment, cookie)).addResponse.status).toBe(201)
  })
})

describe('npm run admin -- personas', () => {
  it('invites with a link that works, lists, removes, resets and erases', async () => {
    const correo = createCorreoAddress()
    const { comercio } = await environment.createComercio()
    const invitationResult = await admin('invitar', '--correo', correo, '--nombre', 'Ana', '--comercio', comercio)
    expect(invitationResult).toMatchObject({ codigo: 0, text: { correo, comercio, alcances: ['propietario'] } })
    const { enlace } = invitationResult.text
    expect(enlace).toMatch(/^http:\/\/localhost:3456\/invitacion\//)
    expect((await findPendingCorreo(environment, 'invitacion', correo)).enlace).toBe(enlace)
    const { persona, membresia } = (await aceptar(enlace)).body
    const { text: message } = await admin('listar')
    expect(message[0]).toMatchObject({ persona, correo, membresias: [{ membresia, comercio }] })
    expect(await admin('quitar', membresia)).toMatchObject({ codigo: 0, text: { membresia, quitada: true } })
    expect(await admin('restablecer', persona, '--si')).toMatchObject({ codigo: 0, text: { restablecida: true } })
    expect(await findPendingCorreo(environment, 'segundo_factor', correo)).toMatchObject({ que: 'restablecido' })
    expect(await admin('eliminar', persona, '--si')).toMatchObject({ codigo: 0, text: { eliminada: true } })
    const { rows } = await environment.db.pool.query(
      `select distinct quien_tipo from bitacora where sobre = $1 and accion <> 'aceptarInvitacion'`,
      [persona],
    )
    expect(rows).toEqual([{ quien_tipo: 'consola' }])
  })

  it.each([
    [['invitar', '--correo', 'ana', '--nombre', 'Ana'], '--correo: '],
    [['invitar', '--correo', 'a@b.com', '--nombre', 'Ana', '--alcances', 'despacho'], '--alcances: '],
    [['invitar', '--correo', 'a@b.com', '--nombre', 'Ana', '--comercio', 'com_x'], '--comercio: '],
    [['quitar', 'mem_000000000000'], '--membresia: '],
    [['restablecer', 'per_000000000000', '--si'], '--persona: '],
    [['eliminar', 'per_000000000000', '--si'], '--persona: '],
  ])('%j is refused', async (args, message) => {
    expect(await admin(...args)).toMatchObject({ codigo: 1, errores: expect.stringContaining(message) })
  })
})
