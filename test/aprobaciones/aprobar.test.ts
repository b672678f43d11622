import { describe, expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import {
  createCorreoAddress,
  createTestPersona,
  findPendingCorreo,
  requestFromPage,
  requestInvitacionAprobacion,
  SESION,
  type TestPersona,
} from '../equipo/persona.ts'
import { waitUntil } from '../factories.ts'

const environment = useEnvironment()
const BASE = '/operaciones/v1/aprobaciones'
const aprobar = ({ request }: TestPersona, aprobacion: string) => request('POST', `${BASE}/${aprobacion}/aprobar`)
const rechazar = ({ request }: TestPersona, aprobacion: string, razon = 'No la conozco') =>
  request('POST', `${BASE}/${aprobacion}/rechazar`, { razon })
const ver = async (aprobacion: string) => (await environment.asOperador('GET', `/aprobaciones/${aprobacion}`)).body
const createTwoAdmins = async () =>
  [await createTestPersona(environment), await createTestPersona(environment)] as const
/** Leaves these alone with the scope. */
const leaveAdminOnlyTo = (...personas: TestPersona[]) =>
  environment.db.pool.query(
    `update membresia set alcances = '{ver}' where ambito = 'empresa' and membresia <> all($1)`,
    [personas.map(({ membresia }) => membresia)],
  )

describe('inviting a person who administers', () => {
  it('waits for another person, whose approval invites', async () => {
    const [ana, bea] = await createTwoAdmins()
    const { correo, aprobacion, body } = await requestInvitacionAprobacion(ana)
    const { codigo } = body
    expect(body).toMatchObject({
      tipo: 'invitar_persona',
      estado: 'pendiente',
      contenido: { correo, nombre: 'Eva Ruiz', persona: null, membresia: null, llave: null, alcances: ['administrar'] },
      pide: ana.persona,
      decide: null,
    })
    expect(Date.parse(body.vence_en) - Date.parse(body.creado_en)).toBe(72 * HOUR_MS)
    expect(await findPendingCorreo(environment, 'invitacion', correo)).toBeUndefined()
    expect(await findPendingCorreo(environment, 'aprobacion', bea.correo)).toMatchObject({
      quien: 'Ana Pérez',
      que: `invitar a Eva Ruiz (${correo}), con estos permisos: administrar`,
      enlace: expect.stringMatching(/\/cuenta$/),
    })
    expect(await findPendingCorreo(environment, 'aprobacion', ana.correo)).toBeUndefined()
    const approval = await aprobar(bea, aprobacion)
    expect([approval.status, approval.body]).toMatchObject([
      200,
      { estado: 'aprobada', contenido: null, pide: ana.persona, decide: bea.persona },
    ])
    const { enlace, nombre } = await findPendingCorreo(environment, 'invitacion', correo)
    expect(nombre).toBe('Eva Ruiz')
    const requestData = { token: enlace.split('/').at(-1), codigo }
    expect((await requestFromPage(environment, '', ['POST', `${SESION}/invitacion`, requestData])).status).toBe(201)
    expect(await findPendingCorreo(environment, 'decision', ana.correo)).toEqual({
      nombre: 'Ana Pérez',
      quien: 'Ana Pérez',
      razon: null,
      enlace: expect.stringMatching(/\/cuenta$/),
      que: `invitar a Eva Ruiz (${correo}), con estos permisos: administrar`,
    })
    const { rows } = await environment.db.pool.query(
      `select accion, quien, sobre_tipo, despues from bitacora
       where sobre = $1 or despues ->> 'aprobacion' = $1 order by id`,
      [aprobacion],
    )
    expect(rows).toEqual([
      {
        accion: 'invitarPersona',
        quien: ana.persona,
        sobre_tipo: 'aprobacion',
        despues: { estado: 'pendiente', tipo: 'invitar_persona', alcances: ['administrar'] },
      },
      {
        accion: 'darAprobacion',
        quien: bea.persona,
        sobre_tipo: 'invitacion',
        despues: { comercio: null, alcances: ['administrar'], aprobacion, pide: ana.persona },
      },
    ])
  })

  it('takes effect at once with one administrator, by a key, and without that scope', async () => {
    const [ana] = await createTwoAdmins()
    const invitar = (send: TestPersona['request'], alcances: string[]) =>
      send('POST', '/operaciones/v1/invitaciones', { correo: createCorreoAddress(), nombre: 'Eva', alcances })
    expect((await invitar(ana.request, ['ver', 'operar'])).status).toBe(201)
    expect((await invitar(ana.request, ['administrar'])).status).toBe(202)
    const llave = environment.llaveDeOperacion
    const byLlave = { correo: createCorreoAddress(), nombre: 'Eva', alcances: ['administrar'] }
    const approval = await environment.request('POST', '/operaciones/v1/invitaciones', { llave, body: byLlave })
    expect(approval.status).toBe(201)
    await leaveAdminOnlyTo(ana)
    expect((await invitar(ana.request, ['administrar'])).status).toBe(201)
  })
})

describe('giving a membership the scope to administer', () => {
  it('waits for another person', async () => {
    const [ana, bea] = await createTwoAdmins()
    const eva = await createTestPersona(environment, { alcances: ['ver'] })
    const path = `/operaciones/v1/membresias/${eva.membresia}`
    const sentRequest = await ana.request('PATCH', path, { alcances: ['ver', 'administrar'] })
    expect([sentRequest.status, sentRequest.body]).toMatchObject([
      202,
      { tipo: 'cambiar_membresia', contenido: { persona: eva.persona, membresia: eva.membresia, correo: eva.correo } },
    ])
    const alcances = async () =>
      (await environment.asOperador('GET', `/personas/${eva.persona}`)).body.membresias[0].alcances
    expect(await alcances()).toEqual(['ver'])
    expect((await aprobar(bea, sentRequest.body.aprobacion)).status).toBe(200)
    expect(await alcances()).toEqual(['ver', 'administrar'])
    // Who administers already keeps the scope without another approval.
    expect((await ana.request('PATCH', path, { alcances: ['ver', 'operar', 'administrar'] })).status).toBe(200)
  })

  it('changes nothing once the membership is gone', async () => {
    const [ana, bea] = await createTwoAdmins()
    const eva = await createTestPersona(environment, { alcances: ['ver'] })
    const path = `/operaciones/v1/membresias/${eva.membresia}`
    const { aprobacion } = (await ana.request('PATCH', path, { alcances: ['administrar'] })).body
    await environment.asOperador('DELETE', `/membresias/${eva.membresia}`)
    const { status, body } = await aprobar(bea, aprobacion)
    expect([status, body.codigo]).toEqual([409, 'aprobacion_cerrada'])
    expect((await ver(aprobacion)).estado).toBe('pendiente')
  })
})

describe('a decision', () => {
  it('is never of the person who asked, of a key, or of a person who does not administer', async () => {
    const [ana] = await createTwoAdmins()
    const { aprobacion } = await requestInvitacionAprobacion(ana)
    for (const decidir of [aprobar, rechazar]) {
      const propia = await decidir(ana, aprobacion)
      expect([propia.status, propia.body.codigo]).toEqual([409, 'aprobacion_propia'])
      const caseWithoutAlcance = await decidir(
        await createTestPersona(environment, { alcances: ['ver', 'operar', 'caja'] }),
        aprobacion,
      )
      expect([caseWithoutAlcance.status, caseWithoutAlcance.body.codigo]).toEqual([403, 'alcance_insuficiente'])
    }
    const byLlave = await environment.request('POST', `${BASE}/${aprobacion}/aprobar`, {
      llave: environment.llaveDeOperacion,
      headers: { Origin: environment.url },
    })
    expect([byLlave.status, byLlave.body.codigo]).toEqual([401, 'sesion_invalida'])
    expect((await ver(aprobacion)).estado).toBe('pendiente')
  })

  it('gives no scope that the person who decides lacks', async () => {
    const [ana] = await createTwoAdmins()
    const eva = await createTestPersona(environment, { alcances: ['ver'] })
    const path = `/operaciones/v1/membresias/${eva.membresia}`
    const { aprobacion } = (await ana.request('PATCH', path, { alcances: ['caja', 'administrar'] })).body
    const personaWithoutCaja = await createTestPersona(environment, { alcances: ['administrar'] })
    const { status, body } = await aprobar(personaWithoutCaja, aprobacion)
    expect([status, body.mensaje]).toEqual([403, expect.stringContaining('el alcance caja')])
    expect((await ver(aprobacion)).estado).toBe('pendiente')
  })

  it('is made once: of ten at once, one wins', async () => {
    const personas = await Promise.all(Array.from({ length: 6 }, () => createTestPersona(environment)))
    const [ana, ...others] = personas as [TestPersona, ...TestPersona[]]
    for (let time = 0; time < 3; time++) {
      const { correo, aprobacion } = await requestInvitacionAprobacion(ana)
      const hechas = await Promise.all(
        others.flatMap((one) => [aprobar(one, aprobacion), rechazar(one, aprobacion, 'No hoy')]),
      )
      expect(hechas.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)])
      const codigos = hechas.filter(({ status }) => status === 409).map(({ body }) => body.codigo)
      expect(new Set(codigos)).toEqual(new Set(['aprobacion_cerrada']))
      const { estado } = await ver(aprobacion)
      const { rows } = await environment.db.pool.query('select count(*)::int n from invitacion where correo = $1', [
        correo,
      ])
      expect([estado, rows[0].n]).toEqual(estado === 'aprobada' ? ['aprobada', 1] : ['rechazada', 0])
    }
  })

  it('is too late once the person who asked no longer administers, and for one who is there by then', async () => {
    const [ana, bea] = await createTwoAdmins()
    const { aprobacion, correo } = await requestInvitacionAprobacion(ana)
    const other = await requestInvitacionAprobacion(bea, correo)
    await environment.asOperador('PATCH', `/membresias/${ana.membresia}`, { alcances: ['ver'] })
    const { status, body } = await aprobar(bea, aprobacion)
    expect([status, body.codigo, body.mensaje]).toEqual([
      409,
      'aprobacion_cerrada',
      expect.stringContaining('ya no administra'),
    ])
    await createTestPersona(environment, { correo })
    const cata = await createTestPersona(environment)
    const repeated = await aprobar(cata, other.aprobacion)
    expect([repeated.status, repeated.body.mensaje]).toEqual([409, expect.stringContaining('Esa persona ya está')])
  })

  it('returns 404 for an unknown approval', async () => {
    const ana = await createTestPersona(environment)
    for (const { status, body } of [await aprobar(ana, 'apr_000000000000'), await rechazar(ana, 'x')])
      expect([status, body.codigo]).toEqual([404, 'aprobacion_desconocida'])
  })
})

it('the database has neither name nor address of an approval in clear, and the row has no content afterwards', async () => {
  const [ana, bea] = await createTwoAdmins()
  const { aprobacion, correo } = await requestInvitacionAprobacion(ana)
  const read = async () =>
    (await environment.db.pool.query('select * from aprobacion where aprobacion = $1', [aprobacion])).rows[0]
  const row = await read()
  expect(JSON.stringify({ ...row, contenido: row.contenido.toString('latin1') })).not.toMatch(
    new RegExp(`\\bEva\\b|${correo}`),
  )
  await aprobar(bea, aprobacion)
  expect((await read()).contenido).toBeNull()
})

it('erasing a person erases the approvals that it asked for and those about its address', async () => {
  const [ana, bea] = await createTwoAdmins()
  const ownRequest = await requestInvitacionAprobacion(ana)
  const { comercio } = await environment.createComercio()
  const eva = await createTestPersona(environment, { comercio, alcances: ['lectura'] })
  const requestAboutEva = await requestInvitacionAprobacion(bea, eva.correo)
  for (const { persona } of [ana, eva])
    expect((await environment.asOperador('DELETE', `/personas/${persona}`)).status).toBe(204)
  for (const { aprobacion } of [ownRequest, requestAboutEva])
    expect((await environment.asOperador('GET', `/aprobaciones/${aprobacion}`)).status).toBe(404)
})

it('a decision needs a proof of presence, and an approval ends after 72 hours', async () => {
  const [ana, bea] = await createTwoAdmins()
  const { aprobacion } = await requestInvitacionAprobacion(ana)
  environment.advance(5 * MINUTE_MS + 1)
  await waitUntil(async () => {
    const { status, body } = await aprobar(bea, aprobacion)
    return status === 403 && body.codigo === 'presencia_requerida'
  })
  expect((await rechazar(bea, aprobacion)).body.codigo).toBe('presencia_requerida')
  environment.advance(72 * HOUR_MS)
  const cata = await createTestPersona(environment)
  for (const decidir of [aprobar, rechazar]) {
    const { status, body } = await decidir(cata, aprobacion)
    expect([status, body.codigo, body.mensaje]).toEqual([
      409,
      'aprobacion_cerrada',
      'La aprobación venció. Si todavía hace falta, pídala otra vez.',
    ])
  }
  expect(await ver(aprobacion)).toMatchObject({ estado: 'vencida', contenido: null, decide: null })
})
