import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Operation, readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { createFoto, uploadArchivo } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, FULL_RUN_ONLY } from '../factories.ts'
import { createMobile, type Mobile } from '../repartidores/phone.ts'

// Every operation of every document is tried with every body that might deliver a guide. Only the four that may deliver
// do so, and each leaves a proof or a reason.

const environment = useEnvironment()
const OPERACIONES = readOperations(readDocument())
let comercio: Comercio
let repartidor: { repartidor: string; codigo: string }
beforeAll(async () => {
  comercio = await environment.createComercio()
  repartidor = (await environment.asOperador('POST', '/repartidores', { nombre: 'Carlos Méndez' })).body
})

/** Operations that deliver, each with what its deliveries leave. */
const DELIVERING_OPERATIONS: Record<string, string> = {
  registrarEntrega: 'prueba',
  registrarEntregaDeReparto: 'prueba',
  simularAvance: 'prueba',
  registrarEvento: 'razón',
}

/** Ways of a guide to the door. */
const ALL_ROUTES = [
  [],
  ['recolectado', 'en_bodega'],
  ['recolectado', 'en_ruta'],
  ['recolectado', 'en_ruta', 'intento_fallido'],
]

async function carryThrough(route: readonly string[]): Promise<string> {
  const { guia } = await comercio.api.guias.crear(buildGuia())
  for (const estado of route) {
    const toma = ['recolectado', 'en_ruta'].includes(estado) ? { repartidor: repartidor.repartidor } : {}
    const motivo = estado === 'intento_fallido' ? { motivo: 'destinatario_ausente' } : {}
    expect(
      (await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado, ...toma, ...motivo })).status,
    ).toBe(201)
  }
  return guia
}

/** Guide to try an operation with, and its pictures that no proof holds. */
interface GuiaWithPrueba {
  guia: string
  secuencia: number
  /** Picture that an operator may use. */
  operatorFoto: string
  /** Picture that the courier may use. */
  fromMobile: string
}

const ENTREGADO = { estado: 'entregado' }
const withKey = (body: object) => ({ ...body, idempotencia: randomUUID() })
const withFoto = (foto: string) => ({ recibido_por: { nombre: 'María López' }, fotos: [foto] })

/** Bodies that an operation might take for a delivery. */
const CUERPOS: readonly ((guiaWithPrueba: GuiaWithPrueba) => object | undefined)[] = [
  () => undefined,
  () => ({}),
  () => ENTREGADO,
  () => withKey(ENTREGADO),
  () => withKey({ ...ENTREGADO, ocurrido_en: new Date(Date.now() - 60_000).toISOString() }),
  () => ({ ...ENTREGADO, motivo: 'otro', descripcion: 'Entregado' }),
  () => ({ ...ENTREGADO, repartidor: repartidor.repartidor }),
  () => ({ ...ENTREGADO, tipo: 'guia.entregado' }),
  () => ({ tipo: 'guia.entregado', descripcion: 'Entregado' }),
  () => withKey({ tipo: 'guia.nota', descripcion: 'Entregado' }),
  () => ({ resultado: 'entregado', ...ENTREGADO }),
  () => ({ ...buildGuia(), ...ENTREGADO }),
  ({ guia }) => ({ guias: [{ ...buildGuia(), ...ENTREGADO }, buildGuia(), { guia, ...ENTREGADO }] }),
  ({ guia }) => ({ eventos: [{ guia, evento: withKey(ENTREGADO) }] }),
  () => ({ lat: 14.71889, lng: -90.64417, razon: 'Entregado', ...ENTREGADO }),
  () => ({ lat: 14.71889, lng: -90.64417 }),
  () => ({ ...buildGuiaWithoutDestino(), ...ENTREGADO }),
  () => ({ ...ENTREGADO, forzar: { razon: 'Entregado en papel' } }),
  ({ operatorFoto }) => ({ ...ENTREGADO, ...withFoto(operatorFoto) }),
  ({ operatorFoto }) => withFoto(operatorFoto),
  ({ fromMobile }) => withKey(withFoto(fromMobile)),
]

const path = ({ path: pattern }: Operation, guia: string) =>
  pattern.replace(/\{(\w+)\}/g, (_match, name) => (name === 'guia' || name === 'guias' ? guia : 'x_000000000000'))

const withLlave = ({ security }: Operation) => ['llaveDeComercio', 'llaveDeOperacion'].includes(security?.scheme ?? '')

function send(operacion: Operation, guia: string, body: object | undefined, phone: Mobile) {
  const method = operacion.method.toUpperCase()
  const options = method === 'GET' ? {} : { body }
  switch (operacion.security?.scheme) {
    case 'llaveDeComercio':
      return environment.request(method, path(operacion, guia), { llave: comercio.llave, ...options })
    case 'llaveDeOperacion':
      return environment.request(method, path(operacion, guia), { llave: environment.llaveDeOperacion, ...options })
    default:
      return environment.request(method, path(operacion, guia), {
        ...options,
        headers: { Cookie: phone.cookie, Origin: environment.url },
      })
  }
}

const LEER = `select g.guia, p.guia_id is not null as con_prueba, e.datos -> 'forzado' ->> 'razon' as razon from guia g
  join evento e on e.comercio_id = g.comercio_id and e.modo = g.modo and e.guia_id = g.id and e.estado = 'entregado'
    and e.tipo <> 'guia.escaneo_tardio'
  left join prueba_entrega p on p.comercio_id = g.comercio_id and p.modo = g.modo and p.guia_id = g.id
  where g.comercio_id = $1 and g.estado = 'entregado' order by g.guia`

/** Delivered guides, each with its proof or its reason. */
const readDelivered = async (): Promise<{ guia: string; con_prueba: boolean; razon: string | null }[]> =>
  (await environment.db.pool.query(LEER, [comercio.id])).rows

/** The sequence of a guide, and the number of delivered guides. */
const look = async (guia: string): Promise<{ secuencia: number; deliveredGuias: number }> =>
  (await environment.db.pool.query(LOOKUP_SQL, [guia, comercio.id])).rows[0]
const LOOKUP_SQL = `select secuencia,
    (select count(*)::int from guia where comercio_id = $2 and estado = 'entregado') as "deliveredGuias"
  from guia where guia = $1`

async function probar(route: readonly string[], phone: Mobile): Promise<GuiaWithPrueba> {
  const guia = await carryThrough(route)
  const operatorFoto = (await uploadArchivo(environment, guia)).body.archivo
  const fromMobile = (await phone.upload(guia, 'foto', await createFoto())).body.archivo
  return { guia, secuencia: (await look(guia)).secuencia, operatorFoto, fromMobile }
}

/** Tries every operation with every body on guides that came these ways. */
async function tryEverything(routes: readonly (readonly string[])[]): Promise<void> {
  const foundPaths: Record<string, string> = {}
  const seen = new Set((await readDelivered()).map(({ guia }) => guia))
  const commonPart = await createMobile(environment, repartidor)
  for (const route of routes) {
    let guiaWithPrueba: GuiaWithPrueba | undefined
    for (const operacion of OPERACIONES) {
      // Signing out is one of the couriers' operations.
      const phone = withLlave(operacion) ? commonPart : await createMobile(environment, repartidor)
      for (const body of operacion.method === 'get' ? CUERPOS.slice(0, 1) : CUERPOS) {
        guiaWithPrueba ??= await probar(route, phone)
        await send(operacion, guiaWithPrueba.guia, body(guiaWithPrueba), phone)
        const { secuencia, deliveredGuias } = await look(guiaWithPrueba.guia)
        for (const { guia, con_prueba, razon } of deliveredGuias > seen.size ? await readDelivered() : []) {
          if (seen.has(guia)) continue
          seen.add(guia)
          foundPaths[operacion.id] = con_prueba ? 'prueba' : razon ? 'razón' : 'nada'
          expect([operacion.id, foundPaths[operacion.id]]).toEqual([operacion.id, DELIVERING_OPERATIONS[operacion.id]])
        }
        if (secuencia !== guiaWithPrueba.secuencia) guiaWithPrueba = undefined
      }
    }
  }
  expect(foundPaths).toEqual(DELIVERING_OPERATIONS)
}

describe('a guide becomes entregado only through the operations that leave a proof or a reason', () => {
  it('on the way to the door', () => tryEverything([['recolectado', 'en_ruta']]))

  it('on any way', FULL_RUN_ONLY, () => tryEverything(ALL_ROUTES))
})
