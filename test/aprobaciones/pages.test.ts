import { expect, it } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import {
  createTestPersona,
  findPendingCorreo,
  requestInvitacionAprobacion,
  type TestPersona,
} from '../equipo/persona.ts'

const environment = useEnvironment()

/** Asks for `/cuenta`, or sends a form of it, as a browser of this person without a program. */
async function cuenta({ cookie }: TestPersona, campos?: Record<string, string>) {
  const response = await fetch(`${environment.url}/cuenta`, {
    redirect: 'manual',
    headers: { Cookie: cookie, ...(campos && { Origin: environment.url }) },
    ...(campos && { method: 'POST', body: new URLSearchParams(campos) }),
  })
  return { status: response.status, texto: await response.text() }
}
const estado = async (aprobacion: string) =>
  (await environment.operar('GET', `/aprobaciones/${aprobacion}`)).cuerpo.estado

it('the account of a person who administers lists approvals, and gives, refuses and withdraws them', async () => {
  const [ana, bea] = [await createTestPersona(environment), await createTestPersona(environment)]
  const [dada, negada, retirada] = [
    await requestInvitacionAprobacion(ana),
    await requestInvitacionAprobacion(ana),
    await requestInvitacionAprobacion(ana),
  ]
  const deBea = (await cuenta(bea)).texto
  expect(deBea).toContain(`<b>Ana Pérez</b> pide invitar a Eva Ruiz (${dada.correo}), con estos permisos: administrar.`)
  expect(deBea.match(/value="aprobar"/g)).toHaveLength(3)
  const deAna = (await cuenta(ana)).texto
  expect(deAna.match(/value="retirar"/g)).toHaveLength(3)
  expect(deAna).not.toContain('value="aprobar"')
  const sinAlcance = await createTestPersona(environment, { alcances: ['ver', 'operar', 'caja'] })
  expect((await cuenta(sinAlcance)).texto).not.toContain(dada.correo)

  expect((await cuenta(bea, { accion: 'aprobar', cual: dada.aprobacion })).status).toBe(303)
  expect(await findPendingCorreo(environment, 'invitacion', dada.correo)).toBeDefined()
  for (const razon of [' \u0000', 'x'.repeat(301)])
    expect((await cuenta(bea, { accion: 'rechazar', cual: negada.aprobacion, razon })).status).toBe(422)
  const negar = { accion: 'rechazar', cual: negada.aprobacion, razon: 'No la conozco' }
  expect((await cuenta(bea, negar)).status).toBe(303)
  expect((await cuenta(ana, { accion: 'retirar', cual: retirada.aprobacion })).status).toBe(303)
  const estados = [await estado(dada.aprobacion), await estado(negada.aprobacion), await estado(retirada.aprobacion)]
  expect(estados).toEqual(['aprobada', 'rechazada', 'retirada'])
  const otraVez = await cuenta(bea, negar)
  expect([otraVez.status, otraVez.texto]).toEqual([409, expect.stringContaining('ya se decidió')])
  expect((await cuenta(bea)).texto).not.toContain('Por aprobar')
})

it('the account decides nothing for its own approval, for a merchant’s person, or after five minutes', async () => {
  const [ana, bea] = [await createTestPersona(environment), await createTestPersona(environment)]
  const { comercio } = await environment.createComercio()
  const eva = await createTestPersona(environment, { comercio, alcances: ['propietario'] })
  const { aprobacion } = await requestInvitacionAprobacion(ana)
  const aprobar = { accion: 'aprobar', cual: aprobacion }
  expect([(await cuenta(ana, aprobar)).status, (await cuenta(eva, aprobar)).status]).toEqual([409, 403])
  environment.advance(5 * MINUTE_MS + 1)
  const after = (await cuenta(bea)).texto
  expect(after).toContain('<a href="cuenta/presencia">confirme que es usted</a>')
  expect(after).not.toContain('value="aprobar"')
  expect((await cuenta(bea, aprobar)).status).toBe(303)
  expect(await estado(aprobacion)).toBe('pendiente')
})

it('the account names keys and removals in words, and offers no decision about oneself while a third person could', async () => {
  const [ana, bea, cata] = [
    await createTestPersona(environment),
    await createTestPersona(environment),
    await createTestPersona(environment),
  ]
  const { operador } = (await environment.operar('POST', '/operadores', { nombre: 'Almacén' })).cuerpo
  const llave = { redes: ['203.0.113.0/24'], alcances: ['ver', 'administrar'] }
  expect((await ana.request('POST', `/operaciones/v1/operadores/${operador}/llaves`, llave)).status).toBe(202)
  const quitar = (await ana.request('DELETE', `/operaciones/v1/membresias/${bea.membresia}`)).cuerpo
  const borrar = (await ana.request('DELETE', `/operaciones/v1/personas/${bea.persona}`)).cuerpo
  const deCata = (await cuenta(cata)).texto
  expect(deCata).toContain(`pide una llave del operador Almacén (${operador}), con estos permisos: ver y administrar.`)
  expect(deCata).toContain('La llave no vence, y vale desde 203.0.113.0/24.')
  expect(deCata).toContain(`pide quitar de la empresa a Ana Pérez (${bea.correo}).`)
  expect(deCata).toContain(`pide borrar la cuenta de Ana Pérez (${bea.correo}).`)
  for (const { aprobacion } of [quitar, borrar])
    expect(deCata).toContain(`value="aprobar"><input type="hidden" name="cual" value="${aprobacion}"`)
  const deBea = (await cuenta(bea)).texto
  expect(deBea.match(/Es sobre usted: la decide otra persona/g)).toHaveLength(2)
  for (const { aprobacion } of [quitar, borrar]) expect(deBea).not.toContain(`value="${aprobacion}"`)
  expect((await cuenta(bea, { accion: 'aprobar', cual: quitar.aprobacion })).status).toBe(409)
})
