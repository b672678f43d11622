import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { createTestPersona, findPendingCorreo, type TestPersona } from '../equipo/persona.ts'
import { waitUntil } from '../factories.ts'

const environment = useEnvironment()
const OPERACIONES = '/operaciones/v1'
const decidir = ({ request }: TestPersona, aprobacion: string, kind: 'aprobar' | 'rechazar' = 'aprobar') =>
  request(
    'POST',
    `${OPERACIONES}/aprobaciones/${aprobacion}/${kind}`,
    kind === 'rechazar' ? { razon: 'No' } : undefined,
  )
const ver = async (aprobacion: string) => (await environment.asOperador('GET', `/aprobaciones/${aprobacion}`)).body

/** Leaves these alone with the scope. */
async function keepOnlyAdmins<P extends TestPersona[]>(...personas: P): Promise<P> {
  await environment.db.pool.query(
    `update membresia set alcances = '{ver}' where ambito = 'empresa' and membresia <> all($1)`,
    [personas.map(({ membresia }) => membresia)],
  )
  return personas
}
const dos = async () => keepOnlyAdmins(await createTestPersona(environment), await createTestPersona(environment))
const tres = async () =>
  keepOnlyAdmins(
    await createTestPersona(environment),
    await createTestPersona(environment),
    await createTestPersona(environment),
  )
const membresias = async ({ persona }: TestPersona) => {
  const { status, body } = await environment.asOperador('GET', `/personas/${persona}`)
  return status === 404 ? null : body.membresias.map(({ alcances }: { alcances: string[] }) => alcances)
}

/** Requests with which a person takes something from another one who administers. */
const REMOVALS = [
  ['removing a membership', 'quitar_membresia', 'DELETE', ({ membresia }) => `/membresias/${membresia}`, undefined],
  ['erasing a person', 'eliminar_persona', 'DELETE', ({ persona }) => `/personas/${persona}`, undefined],
  [
    'taking a scope',
    'cambiar_membresia',
    'PATCH',
    ({ membresia }) => `/membresias/${membresia}`,
    { alcances: ['ver', 'operar', 'administrar'] },
  ],
] as const satisfies [string, string, string, (author: TestPersona) => string, object | undefined][]
const DESPUES = { quitar_membresia: [], eliminar_persona: null, cambiar_membresia: [['ver', 'operar', 'administrar']] }
const ALL = ['ver', 'operar', 'caja', 'administrar']

describe.each(REMOVALS)('%s of another person who administers', (_nombre, tipo, method, path, body) => {
  const request = (author: TestPersona, a: TestPersona) => author.request(method, OPERACIONES + path(a), body)

  it('waits for a third person, and neither for the person who asks nor for the one concerned', async () => {
    const [ana, bea, cata] = await tres()
    const sentRequest = await request(ana, bea)
    expect([sentRequest.status, sentRequest.body]).toMatchObject([
      202,
      { tipo, contenido: { persona: bea.persona, correo: bea.correo, llave: null }, pide: ana.persona },
    ])
    expect(await membresias(bea)).toEqual([ALL])
    expect(await findPendingCorreo(environment, 'aprobacion', cata.correo)).toMatchObject({
      que: expect.stringContaining(bea.correo),
    })
    expect(await findPendingCorreo(environment, 'aprobacion', bea.correo)).toBeUndefined()
    const { aprobacion } = sentRequest.body
    for (const one of [ana, bea])
      for (const kind of ['aprobar', 'rechazar'] as const) {
        const { status, body: message } = await decidir(one, aprobacion, kind)
        expect([status, message.codigo]).toEqual([409, 'aprobacion_propia'])
      }
    expect((await decidir(cata, aprobacion)).status).toBe(200)
    expect(await membresias(bea)).toEqual(DESPUES[tipo])
    const { rows } = await environment.db.pool.query(
      `select accion, quien, sobre_tipo, sobre from bitacora where despues ->> 'aprobacion' = $1`,
      [aprobacion],
    )
    expect(rows).toEqual([{ accion: 'darAprobacion', quien: cata.persona, sobre_tipo: 'persona', sobre: bea.persona }])
  })

  it('waits for that person if no third one administers', async () => {
    const [ana, bea] = await dos()
    const { aprobacion } = (await request(ana, bea)).body
    expect(await findPendingCorreo(environment, 'aprobacion', bea.correo)).toBeDefined()
    expect((await decidir(bea, aprobacion, 'rechazar')).status).toBe(200)
    expect(await membresias(bea)).toEqual([ALL])
    const other = (await request(ana, bea)).body
    expect((await decidir(bea, other.aprobacion)).status).toBe(200)
    expect(await membresias(bea)).toEqual(DESPUES[tipo])
  })

  it('takes effect at once by a key, and on oneself', async () => {
    const [ana, bea, cata] = await tres()
    const done = tipo === 'cambiar_membresia' ? 200 : 204
    expect((await request(ana, ana)).status).toBe(done)
    expect(await membresias(ana)).toEqual(DESPUES[tipo])
    expect((await environment.asOperador(method, path(bea), body)).status).toBe(done)
    expect(await membresias(bea)).toEqual(DESPUES[tipo])
    const eva = await createTestPersona(environment, { alcances: ['ver', 'operar', 'caja'] })
    if (method === 'DELETE') expect((await request(cata, eva)).status).toBe(done)
  })
})

describe('two persons who administer', () => {
  it('cannot both be removed: the approval of a removed person cannot be given', async () => {
    const [ana, bea] = await dos()
    const [requestAboutBea, requestAboutAna] = await Promise.all([
      ana.request('DELETE', `${OPERACIONES}/membresias/${bea.membresia}`),
      bea.request('DELETE', `${OPERACIONES}/personas/${ana.persona}`),
    ])
    expect([requestAboutBea.status, requestAboutAna.status]).toEqual([202, 202])
    const hechas = await Promise.all([
      decidir(bea, requestAboutBea.body.aprobacion),
      decidir(ana, requestAboutAna.body.aprobacion),
    ])
    expect(hechas.filter(({ status }) => status === 200)).toHaveLength(1)
    const remaining = await environment.db.pool.query(
      `select 1 from membresia where ambito = 'empresa' and 'administrar' = any(alcances)`,
    )
    expect(remaining.rows).toHaveLength(1)
  })
})

describe('an approval of a removal', () => {
  it('is decided by the person concerned once the third one is gone', async () => {
    const [ana, bea, cata] = await tres()
    const { aprobacion } = (await ana.request('DELETE', `${OPERACIONES}/membresias/${bea.membresia}`)).body
    expect((await decidir(bea, aprobacion)).body.codigo).toBe('aprobacion_propia')
    await environment.asOperador('DELETE', `/membresias/${cata.membresia}`)
    expect((await decidir(bea, aprobacion)).status).toBe(200)
    expect(await membresias(bea)).toEqual([])
    await waitUntil(async () => (await bea.request('GET', `${OPERACIONES}/personas`)).status === 401)
  })

  it('changes nothing once the person or the membership is gone', async () => {
    const [ana, bea, cata] = await tres()
    const quitar = (await ana.request('DELETE', `${OPERACIONES}/membresias/${bea.membresia}`)).body
    await environment.asOperador('DELETE', `/membresias/${bea.membresia}`)
    const late = await decidir(cata, quitar.aprobacion)
    expect([late.status, late.body.codigo]).toEqual([409, 'aprobacion_cerrada'])
    expect((await ver(quitar.aprobacion)).estado).toBe('pendiente')
    const dani = await createTestPersona(environment)
    const remove = (await ana.request('DELETE', `${OPERACIONES}/personas/${dani.persona}`)).body
    await environment.asOperador('DELETE', `/personas/${dani.persona}`)
    // Erasing the person erases what others asked about it.
    expect((await decidir(cata, remove.aprobacion)).status).toBe(404)
  })
})
