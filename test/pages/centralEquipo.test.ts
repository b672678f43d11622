import { beforeAll, describe, expect, it } from 'vitest'
import { COLLEAGUE_ACTIONS, COURIER_ACTIONS, SYSTEM_ACTIONS } from '../../server/pages/central/teamActions.ts'
import { useEnvironment } from '../environment.ts'
import {
  createCorreoAddress,
  createTestPersona,
  findPendingCorreo,
  signInFully,
  type TestPersona,
} from '../equipo/persona.ts'
import { useOffice } from './office.ts'

const environment = useEnvironment()
const { createBrowserOf, perform: act, performLate } = useOffice(environment)
const TEAM_PATH = '/central/equipo'
let ana: TestPersona
/** Another person who administers, so that some requests need an approval. */
let luz: TestPersona
beforeAll(async () => {
  ana = await createTestPersona(environment)
  luz = await createTestPersona(environment)
})

const read = async ({ persona }: { persona: string }) =>
  (await environment.asOperador('GET', `/personas/${persona}`)).body
const pageOf = ({ persona }: { persona: string }) => `${TEAM_PATH}/${persona}`
const secretoOf = (text: string) => /id="secreto">([^<]+)</.exec(text)?.[1] ?? ''
const fresh = () => createTestPersona(environment, { alcances: ['ver', 'operar'] })

/** For each action on a person without scope «administrar»: what is filled in, and what the person is afterwards. */
const SCENES: Record<string, [Record<string, string>, object | undefined]> = {
  permisos: [{ ver: 'si', caja: 'si' }, { membresias: [{ alcances: ['ver', 'caja'] }] }],
  quitar: [{}, { membresias: [] }],
  cerrar: [{}, { sesiones: 0, segundo_factor: true }],
  eliminar: [{}, { codigo: 'persona_desconocida' }],
}

describe.each(Object.entries(SCENES))('«%s» on the page of a person', (accion, [fields, after]) => {
  it('does it and says so', async () => {
    const eva = await fresh()
    const { respuesta: response } = await act(ana, pageOf(eva), { accion, ...fields })
    const returningGuia = ['quitar', 'eliminar'].includes(accion) ? TEAM_PATH : pageOf(eva)
    expect(response).toMatchObject({ status: 303, destino: `${environment.url}${returningGuia}?hecho=${accion}` })
    expect(await read(eva)).toMatchObject(after!)
    expect((await createBrowserOf(ana).visit(response.destino!)).texto).toContain(COLLEAGUE_ACTIONS[accion]!.done)
  })
})

describe('«restablecer» on the page of a person', () => {
  it('waits for a third person, named by the page, and not for the person concerned', async () => {
    const [eva, rosa] = [
      await createTestPersona(environment, { nombre: 'Eva Ruiz' }),
      await createTestPersona(environment),
    ]
    const { respuesta: response } = await act(ana, pageOf(eva), { accion: 'restablecer' })
    expect(response.destino).toBe(`${environment.url}${pageOf(eva)}?espera=restablecer`)
    const { texto: text } = await createBrowserOf(ana).visit(response.destino!)
    expect(text).toMatch(/Queda por aprobar: no cambia nada hasta que lo decida Ana Pérez o Ana Pérez, en/)
    expect(await read(eva)).toMatchObject({ segundo_factor: true })
    const { datos } = (await environment.asOperador('GET', '/aprobaciones?limite=1')).body
    expect((await luz.request('POST', `/operaciones/v1/aprobaciones/${datos[0].aprobacion}/aprobar`)).status).toBe(200)
    expect(await read(eva)).toMatchObject({ sesiones: 0, segundo_factor: false })
    for (const { persona } of [eva, rosa])
      expect((await environment.asOperador('DELETE', `/personas/${persona}`)).status).toBe(204)
  })
})

describe('the open invitations of the courier company', () => {
  it('are shown with what they give, and one is withdrawn', async () => {
    const correo = createCorreoAddress()
    const { body } = await environment.asOperador('POST', '/invitaciones', {
      correo,
      nombre: 'Eva Ruiz',
      alcances: ['ver'],
    })
    const { visit } = createBrowserOf(ana)
    const { texto: text } = await visit(TEAM_PATH)
    expect(text).toMatch(new RegExp(`Invitadas, y no han entrado.*Eva Ruiz.*${correo}.*vale hasta el`, 's'))
    const { respuesta: response } = await act(ana, TEAM_PATH, { accion: 'retirarInvitacion', target: body.invitacion })
    expect(response.destino).toBe(`${environment.url}${TEAM_PATH}?hecho=retirarInvitacion`)
    const after = (await visit(response.destino!)).texto
    expect(after).toContain('La invitación ya no vale.')
    expect(after).not.toContain(correo)
    const again = await act(ana, TEAM_PATH, { accion: 'retirarInvitacion', target: body.invitacion })
    expect(again.respuesta.status).toBe(400)
  })
})

describe('the persons of the courier company', () => {
  it('are shown with scopes, second factor and last session, and a merchant’s are not', async () => {
    const { comercio } = await environment.createComercio()
    const shop = await createTestPersona(environment, { comercio, alcances: ['lectura'] })
    const rosa = await createTestPersona(environment, { withApp: false, alcances: ['ver', 'caja'] })
    const { visit } = createBrowserOf(ana)
    const { texto: text } = await visit(TEAM_PATH)
    expect(text).toMatch(new RegExp(`${rosa.persona}".*?Puede ver y caja · sin segundo factor · entró el`, 's'))
    expect(text).not.toContain(shop.persona)
    expect((await visit(pageOf(shop))).status).toBe(404)
    for (const path of ['per_000000000000', 'x', 'sistemas/op_000000000000', 'repartidores/x', 'sistemas/x/y'])
      expect((await visit(`${TEAM_PATH}/${path}`)).status).toBe(404)
  })

  it('are invited, and a fault stands beside its field', async () => {
    const correo = createCorreoAddress()
    const bad = await act(ana, TEAM_PATH, { accion: 'invitar', correo: 'eva', nombre: 'Eva', ver: 'si' })
    expect([bad.respuesta.status, bad.respuesta.texto]).toEqual([
      422,
      expect.stringContaining('id="error-invitar-correo"'),
    ])
    const { respuesta: response } = await act(ana, TEAM_PATH, { accion: 'invitar', correo, nombre: 'Eva', ver: 'si' })
    expect([response.status, response.texto]).toEqual([200, expect.stringContaining('y no por correo')])
    const codigo = secretoOf(response.texto)
    expect(codigo).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/)
    expect((await findPendingCorreo(environment, 'invitacion', correo)).enlace).toContain('/invitacion/')
  })

  it('without a second factor are invited again from their page, and keep their scopes', async () => {
    const rosa = await createTestPersona(environment, { withApp: false, alcances: ['ver', 'caja'] })
    const { respuesta: response } = await act(ana, pageOf(rosa), { accion: 'invitarOtraVez' })
    expect(secretoOf(response.texto)).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/)
    expect((await read(rosa)).membresias[0].alcances).toEqual(['ver', 'caja'])
    expect((await createBrowserOf(ana).visit(pageOf(luz))).texto).not.toContain('Invitarla otra vez')
  })

  it('with the scope «administrar» are invited and changed only with an approval, and the page names who decides', async () => {
    const eva = await fresh()
    const alcances = { ver: 'si', administrar: 'si' }
    const { respuesta: response } = await act(ana, pageOf(eva), { accion: 'permisos', ...alcances })
    expect(response.destino).toBe(`${environment.url}${pageOf(eva)}?espera=permisos`)
    const { texto: text } = await createBrowserOf(ana).visit(response.destino!)
    expect(text).toMatch(/Queda por aprobar: no cambia nada hasta que lo decida .*Ana Pérez/)
    expect((await read(eva)).membresias[0].alcances).toEqual(['ver', 'operar'])
    const correo = createCorreoAddress()
    const invitationResult = await act(ana, TEAM_PATH, { accion: 'invitar', correo, nombre: 'Eva', ...alcances })
    expect(invitationResult.respuesta.texto).toContain('No vale hasta que lo apruebe otra persona que administra')
    expect(secretoOf(invitationResult.respuesta.texto)).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/)
    expect((await createBrowserOf(luz).visit(TEAM_PATH)).texto).toContain('Hay 2 cosas por aprobar')
    expect((await createBrowserOf(luz).visit('/cuenta')).texto).toContain('Por aprobar')
  })

  it('are shown only to a person with the scope «administrar»', async () => {
    const eva = await fresh()
    const { visit } = createBrowserOf(eva)
    expect((await visit('/central')).texto).not.toContain('central/equipo')
    for (const path of [TEAM_PATH, pageOf(luz), `${TEAM_PATH}/sistemas`, `${TEAM_PATH}/repartidores`]) {
      expect((await visit(path)).status).toBe(404)
      expect((await visit(path, { accion: 'cerrar' })).status).toBe(404)
    }
    expect((await read(luz)).sesiones).toBe(1)
  })

  it('ask for a proof of presence, and for a form of the page', async () => {
    const [late, eva] = [await createTestPersona(environment), await fresh()]
    await performLate(late)
    const { respuesta: response } = await act(late, pageOf(eva), { accion: 'quitar' })
    expect([response.status, response.texto]).toEqual([
      403,
      expect.stringContaining(`cuenta/presencia?volver=${encodeURIComponent(pageOf(eva))}`),
    ])
    for (const accion of ['constructor', 'llave', ''])
      expect((await act(ana, pageOf(eva), { accion })).respuesta.status).toBe(400)
    expect((await read(eva)).membresias).toHaveLength(1)
  })

  it('show how many sessions are open', async () => {
    const eva = await fresh()
    await signInFully(environment, eva)
    expect((await createBrowserOf(ana).visit(pageOf(eva))).texto).toContain('2 abiertas; la última vez entró el')
  })
})

describe('the systems', () => {
  const SYSTEMS_PATH = `${TEAM_PATH}/sistemas`
  /** Adds a system. Returns the path of its page. */
  async function agregar(nombre: string): Promise<string> {
    await act(ana, SYSTEMS_PATH, { accion: 'sistema', nombre })
    const { datos } = (await environment.asOperador('GET', '/operadores')).body
    return `${SYSTEMS_PATH}/${datos.find((one: { nombre: string }) => one.nombre === nombre).operador}`
  }
  const statusWith = async (llave: string) =>
    (await environment.request('GET', '/operaciones/v1/guias?limite=1', { llave })).status

  it('are added with a key that is shown once, rotated and revoked', async () => {
    const sistema = await agregar('Bodega')
    expect((await createBrowserOf(ana).visit(SYSTEMS_PATH)).texto).toContain('Bodega')
    const created = await act(ana, sistema, { accion: 'llave', ver: 'si', redes: '', vence_en: '' })
    const llave = secretoOf(created.respuesta.texto)
    expect([created.respuesta.status, await statusWith(llave)]).toEqual([200, 200])
    const target = `llave_${/^guia_oper_([0-9A-Z]{12})/.exec(llave)![1]}`
    const rotation = await act(ana, sistema, { accion: 'rotar', target, solapamiento_horas: '1' })
    expect(await statusWith(secretoOf(rotation.respuesta.texto))).toBe(200)
    expect((await act(ana, sistema, { accion: 'revocar', target })).respuesta.destino).toContain('?hecho=revocar')
    expect((await createBrowserOf(ana).visit(sistema)).texto).toContain('Las que ya no valen (1)')
    const { respuesta: response } = await act(ana, sistema, { accion: 'revocarSistema' })
    const { texto: text } = await createBrowserOf(ana).visit(response.destino!)
    expect([text.includes(SYSTEM_ACTIONS.revocarSistema!.done), text.includes('value="llave"')]).toEqual([true, false])
  })

  it('get a key that administers only with an approval, and its text already', async () => {
    const sistema = await agregar('Cuadre')
    const { respuesta: response } = await act(ana, sistema, {
      accion: 'llave',
      administrar: 'si',
      redes: '',
      vence_en: '',
    })
    expect(response.texto).toContain('No vale hasta que lo apruebe otra persona')
    expect(await statusWith(secretoOf(response.texto))).toBe(401)
  })
})

describe('the couriers', () => {
  const REPARTIDORES = `${TEAM_PATH}/repartidores`
  const entra = async (codigo: string) =>
    (
      await environment.request('POST', '/repartidor/v1/sesion', {
        body: { codigo },
        headers: { Origin: environment.url },
      })
    ).status

  it('are added with a code, get another one, and are deactivated', async () => {
    const bad = await act(ana, REPARTIDORES, { accion: 'repartidor', nombre: 'Carlos', telefono: '55' })
    expect(bad.respuesta.texto).toContain('id="error-repartidor-telefono"')
    const created = await act(ana, REPARTIDORES, { accion: 'repartidor', nombre: 'Carlos Ixchop', telefono: '' })
    const codigo = secretoOf(created.respuesta.texto)
    const { datos } = (await environment.asOperador('GET', '/repartidores')).body
    const { repartidor: target } = datos.find(({ nombre }: { nombre: string }) => nombre === 'Carlos Ixchop')
    const other = secretoOf((await act(ana, REPARTIDORES, { accion: 'codigo', target })).respuesta.texto)
    expect([await entra(codigo), await entra(other)]).toEqual([401, 201])
    const { respuesta: response } = await act(ana, REPARTIDORES, { accion: 'desactivar', target })
    const { texto: text } = await createBrowserOf(ana).visit(response.destino!)
    expect(text).toContain(COURIER_ACTIONS.desactivar!.done)
    expect(await entra(other)).toBe(401)
    expect((await act(ana, REPARTIDORES, { accion: 'codigo', target: 'rep_000000000000' })).respuesta.status).toBe(400)
  })
})
