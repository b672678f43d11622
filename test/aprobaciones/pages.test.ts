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
async function openCuenta({ cookie }: TestPersona, fields?: Record<string, string>) {
  const response = await fetch(`${environment.url}/cuenta`, {
    redirect: 'manual',
    headers: { Cookie: cookie, ...(fields && { Origin: environment.url }) },
    ...(fields && { method: 'POST', body: new URLSearchParams(fields) }),
  })
  return { status: response.status, texto: await response.text() }
}
const estado = async (aprobacion: string) =>
  (await environment.asOperador('GET', `/aprobaciones/${aprobacion}`)).body.estado

it('the account of a person who administers lists approvals, and gives, refuses and withdraws them', async () => {
  const [ana, bea] = [await createTestPersona(environment), await createTestPersona(environment)]
  const [approved, refusal, retirada] = [
    await requestInvitacionAprobacion(ana),
    await requestInvitacionAprobacion(ana),
    await requestInvitacionAprobacion(ana),
  ]
  const accountOfBea = (await openCuenta(bea)).texto
  expect(accountOfBea).toContain(
    `<b>Ana Pérez</b> pide invitar a Eva Ruiz (${approved.correo}), con estos permisos: administrar.`,
  )
  expect(accountOfBea.match(/value="aprobar"/g)).toHaveLength(3)
  const ofAna = (await openCuenta(ana)).texto
  expect(ofAna.match(/value="retirar"/g)).toHaveLength(3)
  expect(ofAna).not.toContain('value="aprobar"')
  const caseWithoutAlcance = await createTestPersona(environment, { alcances: ['ver', 'operar', 'caja'] })
  expect((await openCuenta(caseWithoutAlcance)).texto).not.toContain(approved.correo)

  expect((await openCuenta(bea, { accion: 'aprobar', cual: approved.aprobacion })).status).toBe(303)
  expect(await findPendingCorreo(environment, 'invitacion', approved.correo)).toBeDefined()
  for (const razon of [' \u0000', 'x'.repeat(301)])
    expect((await openCuenta(bea, { accion: 'rechazar', cual: refusal.aprobacion, razon })).status).toBe(422)
  const deny = { accion: 'rechazar', cual: refusal.aprobacion, razon: 'No la conozco' }
  expect((await openCuenta(bea, deny)).status).toBe(303)
  expect((await openCuenta(ana, { accion: 'retirar', cual: retirada.aprobacion })).status).toBe(303)
  const estados = [
    await estado(approved.aprobacion),
    await estado(refusal.aprobacion),
    await estado(retirada.aprobacion),
  ]
  expect(estados).toEqual(['aprobada', 'rechazada', 'retirada'])
  const repetition = await openCuenta(bea, deny)
  expect([repetition.status, repetition.texto]).toEqual([409, expect.stringContaining('ya se decidió')])
  expect((await openCuenta(bea)).texto).not.toContain('Por aprobar')
})

it('the account decides nothing for its own approval, for a merchant’s person, or after five minutes', async () => {
  const [ana, bea] = [await createTestPersona(environment), await createTestPersona(environment)]
  const { comercio } = await environment.createComercio()
  const eva = await createTestPersona(environment, { comercio, alcances: ['propietario'] })
  const { aprobacion } = await requestInvitacionAprobacion(ana)
  const aprobar = { accion: 'aprobar', cual: aprobacion }
  expect([(await openCuenta(ana, aprobar)).status, (await openCuenta(eva, aprobar)).status]).toEqual([409, 403])
  environment.advance(5 * MINUTE_MS + 1)
  const after = (await openCuenta(bea)).texto
  expect(after).toContain('<a href="cuenta/presencia">confirme que es usted</a>')
  expect(after).not.toContain('value="aprobar"')
  expect((await openCuenta(bea, aprobar)).status).toBe(303)
  expect(await estado(aprobacion)).toBe('pendiente')
})

it('the account names keys and removals in words, and offers no decision about oneself while a third person could', async () => {
  const [ana, bea, cata] = [
    await createTestPersona(environment),
    await createTestPersona(environment),
    await createTestPersona(environment),
  ]
  const { operador } = (await environment.asOperador('POST', '/operadores', { nombre: 'Almacén' })).body
  const llave = { redes: ['203.0.113.0/24'], alcances: ['ver', 'administrar'] }
  expect((await ana.request('POST', `/operaciones/v1/operadores/${operador}/llaves`, llave)).status).toBe(202)
  const quitar = (await ana.request('DELETE', `/operaciones/v1/membresias/${bea.membresia}`)).body
  const remove = (await ana.request('DELETE', `/operaciones/v1/personas/${bea.persona}`)).body
  const accountOfCata = (await openCuenta(cata)).texto
  expect(accountOfCata).toContain(
    `pide una llave del operador Almacén (${operador}), con estos permisos: ver y administrar.`,
  )
  expect(accountOfCata).toContain('La llave no vence, y vale desde 203.0.113.0/24.')
  expect(accountOfCata).toContain(`pide quitar de la empresa a Ana Pérez (${bea.correo}).`)
  expect(accountOfCata).toContain(`pide borrar la cuenta de Ana Pérez (${bea.correo}).`)
  for (const { aprobacion } of [quitar, remove])
    expect(accountOfCata).toContain(`value="aprobar"><input type="hidden" name="cual" value="${aprobacion}"`)
  const accountOfBea = (await openCuenta(bea)).texto
  expect(accountOfBea.match(/Es sobre usted: la decide otra persona/g)).toHaveLength(2)
  for (const { aprobacion } of [quitar, remove]) expect(accountOfBea).not.toContain(`value="${aprobacion}"`)
  expect((await openCuenta(bea, { accion: 'aprobar', cual: quitar.aprobacion })).status).toBe(409)
})
