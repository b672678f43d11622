import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { createTestPersona, findPendingCorreo, type TestPersona } from '../equipo/persona.ts'
import { waitUntil } from '../factories.ts'

const environment = useEnvironment()
const OPERACIONES = '/operaciones/v1'
const decidir = ({ request }: TestPersona, aprobacion: string, que: 'aprobar' | 'rechazar' = 'aprobar') =>
  request('POST', `${OPERACIONES}/aprobaciones/${aprobacion}/${que}`, que === 'rechazar' ? { razon: 'No' } : undefined)
const ver = async (aprobacion: string) => (await environment.operar('GET', `/aprobaciones/${aprobacion}`)).cuerpo

/** Leaves these alone with the scope. */
async function solas<P extends TestPersona[]>(...personas: P): Promise<P> {
  await environment.db.pool.query(
    `update membresia set alcances = '{ver}' where ambito = 'empresa' and membresia <> all($1)`,
    [personas.map(({ membresia }) => membresia)],
  )
  return personas
}
const dos = async () => solas(await createTestPersona(environment), await createTestPersona(environment))
const tres = async () =>
  solas(
    await createTestPersona(environment),
    await createTestPersona(environment),
    await createTestPersona(environment),
  )
const membresias = async ({ persona }: TestPersona) => {
  const { status, cuerpo } = await environment.operar('GET', `/personas/${persona}`)
  return status === 404 ? null : cuerpo.membresias.map(({ alcances }: { alcances: string[] }) => alcances)
}

/** Requests with which a person takes something from another one who administers. */
const QUITAN = [
  ['removing a membership', 'quitar_membresia', 'DELETE', ({ membresia }) => `/membresias/${membresia}`, undefined],
  ['erasing a person', 'eliminar_persona', 'DELETE', ({ persona }) => `/personas/${persona}`, undefined],
  [
    'taking a scope',
    'cambiar_membresia',
    'PATCH',
    ({ membresia }) => `/membresias/${membresia}`,
    { alcances: ['ver', 'operar', 'administrar'] },
  ],
] as const satisfies [string, string, string, (de: TestPersona) => string, object | undefined][]
const DESPUES = { quitar_membresia: [], eliminar_persona: null, cambiar_membresia: [['ver', 'operar', 'administrar']] }
const TODOS = ['ver', 'operar', 'caja', 'administrar']

describe.each(QUITAN)('%s of another person who administers', (_nombre, tipo, method, path, body) => {
  const request = (de: TestPersona, a: TestPersona) => de.request(method, OPERACIONES + path(a), body)

  it('waits for a third person, and neither for the person who asks nor for the one concerned', async () => {
    const [ana, bea, cata] = await tres()
    const pedida = await request(ana, bea)
    expect([pedida.status, pedida.cuerpo]).toMatchObject([
      202,
      { tipo, contenido: { persona: bea.persona, correo: bea.correo, llave: null }, pide: ana.persona },
    ])
    expect(await membresias(bea)).toEqual([TODOS])
    expect(await findPendingCorreo(environment, 'aprobacion', cata.correo)).toMatchObject({
      que: expect.stringContaining(bea.correo),
    })
    expect(await findPendingCorreo(environment, 'aprobacion', bea.correo)).toBeUndefined()
    const { aprobacion } = pedida.cuerpo
    for (const one of [ana, bea])
      for (const que of ['aprobar', 'rechazar'] as const) {
        const { status, cuerpo: dicho } = await decidir(one, aprobacion, que)
        expect([status, dicho.codigo]).toEqual([409, 'aprobacion_propia'])
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
    const { aprobacion } = (await request(ana, bea)).cuerpo
    expect(await findPendingCorreo(environment, 'aprobacion', bea.correo)).toBeDefined()
    expect((await decidir(bea, aprobacion, 'rechazar')).status).toBe(200)
    expect(await membresias(bea)).toEqual([TODOS])
    const other = (await request(ana, bea)).cuerpo
    expect((await decidir(bea, other.aprobacion)).status).toBe(200)
    expect(await membresias(bea)).toEqual(DESPUES[tipo])
  })

  it('takes effect at once by a key, and on oneself', async () => {
    const [ana, bea, cata] = await tres()
    const done = tipo === 'cambiar_membresia' ? 200 : 204
    expect((await request(ana, ana)).status).toBe(done)
    expect(await membresias(ana)).toEqual(DESPUES[tipo])
    expect((await environment.operar(method, path(bea), body)).status).toBe(done)
    expect(await membresias(bea)).toEqual(DESPUES[tipo])
    const eva = await createTestPersona(environment, { alcances: ['ver', 'operar', 'caja'] })
    if (method === 'DELETE') expect((await request(cata, eva)).status).toBe(done)
  })
})

describe('two persons who administer', () => {
  it('cannot both be removed: the approval of a removed person cannot be given', async () => {
    const [ana, bea] = await dos()
    const [sobreBea, sobreAna] = await Promise.all([
      ana.request('DELETE', `${OPERACIONES}/membresias/${bea.membresia}`),
      bea.request('DELETE', `${OPERACIONES}/personas/${ana.persona}`),
    ])
    expect([sobreBea.status, sobreAna.status]).toEqual([202, 202])
    const hechas = await Promise.all([
      decidir(bea, sobreBea.cuerpo.aprobacion),
      decidir(ana, sobreAna.cuerpo.aprobacion),
    ])
    expect(hechas.filter(({ status }) => status === 200)).toHaveLength(1)
    const quedan = await environment.db.pool.query(
      `select 1 from membresia where ambito = 'empresa' and 'administrar' = any(alcances)`,
    )
    expect(quedan.rows).toHaveLength(1)
  })
})

describe('an approval of a removal', () => {
  it('is decided by the person concerned once the third one is gone', async () => {
    const [ana, bea, cata] = await tres()
    const { aprobacion } = (await ana.request('DELETE', `${OPERACIONES}/membresias/${bea.membresia}`)).cuerpo
    expect((await decidir(bea, aprobacion)).cuerpo.codigo).toBe('aprobacion_propia')
    await environment.operar('DELETE', `/membresias/${cata.membresia}`)
    expect((await decidir(bea, aprobacion)).status).toBe(200)
    expect(await membresias(bea)).toEqual([])
    await waitUntil(async () => (await bea.request('GET', `${OPERACIONES}/personas`)).status === 401)
  })

  it('changes nothing once the person or the membership is gone', async () => {
    const [ana, bea, cata] = await tres()
    const quitar = (await ana.request('DELETE', `${OPERACIONES}/membresias/${bea.membresia}`)).cuerpo
    await environment.operar('DELETE', `/membresias/${bea.membresia}`)
    const late = await decidir(cata, quitar.aprobacion)
    expect([late.status, late.cuerpo.codigo]).toEqual([409, 'aprobacion_cerrada'])
    expect((await ver(quitar.aprobacion)).estado).toBe('pendiente')
    const dani = await createTestPersona(environment)
    const borrar = (await ana.request('DELETE', `${OPERACIONES}/personas/${dani.persona}`)).cuerpo
    await environment.operar('DELETE', `/personas/${dani.persona}`)
    // Erasing the person erases what others asked about it.
    expect((await decidir(cata, borrar.aprobacion)).status).toBe(404)
  })
})
