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
  repartidor = (await environment.operar('POST', '/repartidores', { nombre: 'Carlos Méndez' })).cuerpo
})

/** Operations that deliver, each with what its deliveries leave. */
const ENTREGAN: Record<string, string> = {
  registrarEntrega: 'prueba',
  registrarEntregaDeReparto: 'prueba',
  simularAvance: 'prueba',
  registrarEvento: 'razón',
}

/** Ways of a guide to the door. */
const CAMINOS = [
  [],
  ['recolectado', 'en_bodega'],
  ['recolectado', 'en_ruta'],
  ['recolectado', 'en_ruta', 'intento_fallido'],
]

async function llevar(camino: readonly string[]): Promise<string> {
  const { guia } = await comercio.api.guias.crear(buildGuia())
  for (const estado of camino) {
    const toma = ['recolectado', 'en_ruta'].includes(estado) ? { repartidor: repartidor.repartidor } : {}
    const motivo = estado === 'intento_fallido' ? { motivo: 'destinatario_ausente' } : {}
    expect((await environment.operar('POST', `/guias/${guia}/eventos`, { estado, ...toma, ...motivo })).status).toBe(
      201,
    )
  }
  return guia
}

/** Guide to try an operation with, and its pictures that no proof holds. */
interface Probada {
  guia: string
  secuencia: number
  /** Picture that an operator may use. */
  deOperador: string
  /** Picture that the courier may use. */
  deMovil: string
}

const ENTREGADO = { estado: 'entregado' }
const conClave = (body: object) => ({ ...body, idempotencia: randomUUID() })
const conFoto = (foto: string) => ({ recibido_por: { nombre: 'María López' }, fotos: [foto] })

/** Bodies that an operation might take for a delivery. */
const CUERPOS: readonly ((probada: Probada) => object | undefined)[] = [
  () => undefined,
  () => ({}),
  () => ENTREGADO,
  () => conClave(ENTREGADO),
  () => conClave({ ...ENTREGADO, ocurrido_en: new Date(Date.now() - 60_000).toISOString() }),
  () => ({ ...ENTREGADO, motivo: 'otro', descripcion: 'Entregado' }),
  () => ({ ...ENTREGADO, repartidor: repartidor.repartidor }),
  () => ({ ...ENTREGADO, tipo: 'guia.entregado' }),
  () => ({ tipo: 'guia.entregado', descripcion: 'Entregado' }),
  () => conClave({ tipo: 'guia.nota', descripcion: 'Entregado' }),
  () => ({ resultado: 'entregado', ...ENTREGADO }),
  () => ({ ...buildGuia(), ...ENTREGADO }),
  ({ guia }) => ({ guias: [{ ...buildGuia(), ...ENTREGADO }, buildGuia(), { guia, ...ENTREGADO }] }),
  ({ guia }) => ({ eventos: [{ guia, evento: conClave(ENTREGADO) }] }),
  () => ({ lat: 14.71889, lng: -90.64417, razon: 'Entregado', ...ENTREGADO }),
  () => ({ lat: 14.71889, lng: -90.64417 }),
  () => ({ ...buildGuiaWithoutDestino(), ...ENTREGADO }),
  () => ({ ...ENTREGADO, forzar: { razon: 'Entregado en papel' } }),
  ({ deOperador }) => ({ ...ENTREGADO, ...conFoto(deOperador) }),
  ({ deOperador }) => conFoto(deOperador),
  ({ deMovil }) => conClave(conFoto(deMovil)),
]

const path = ({ path: pattern }: Operation, guia: string) =>
  pattern.replace(/\{(\w+)\}/g, (_todo, name) => (name === 'guia' || name === 'guias' ? guia : 'x_000000000000'))

const conLlave = ({ security: seguridad }: Operation) =>
  ['llaveDeComercio', 'llaveDeOperacion'].includes(seguridad?.scheme ?? '')

function send(operacion: Operation, guia: string, cuerpo: object | undefined, phone: Mobile) {
  const method = operacion.method.toUpperCase()
  const options = method === 'GET' ? {} : { cuerpo }
  switch (operacion.security?.scheme) {
    case 'llaveDeComercio':
      return environment.request(method, path(operacion, guia), { llave: comercio.llave, ...options })
    case 'llaveDeOperacion':
      return environment.request(method, path(operacion, guia), { llave: environment.llaveDeOperacion, ...options })
    default:
      return environment.request(method, path(operacion, guia), {
        ...options,
        cabeceras: { Cookie: phone.cookie, Origin: environment.url },
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
const look = async (guia: string): Promise<{ secuencia: number; entregadas: number }> =>
  (await environment.db.pool.query(MIRAR, [guia, comercio.id])).rows[0]
const MIRAR = `select secuencia,
    (select count(*)::int from guia where comercio_id = $2 and estado = 'entregado') as entregadas
  from guia where guia = $1`

async function probar(camino: readonly string[], phone: Mobile): Promise<Probada> {
  const guia = await llevar(camino)
  const deOperador = (await uploadArchivo(environment, guia)).cuerpo.archivo
  const deMovil = (await phone.upload(guia, 'foto', await createFoto())).cuerpo.archivo
  return { guia, secuencia: (await look(guia)).secuencia, deOperador, deMovil }
}

/** Tries every operation with every body on guides that came these ways. */
async function tryEverything(caminos: readonly (readonly string[])[]): Promise<void> {
  const hallado: Record<string, string> = {}
  const seen = new Set((await readDelivered()).map(({ guia }) => guia))
  const comun = await createMobile(environment, repartidor)
  for (const camino of caminos) {
    let probada: Probada | undefined
    for (const operacion of OPERACIONES) {
      // Signing out is one of the couriers' operations.
      const phone = conLlave(operacion) ? comun : await createMobile(environment, repartidor)
      for (const body of operacion.method === 'get' ? CUERPOS.slice(0, 1) : CUERPOS) {
        probada ??= await probar(camino, phone)
        await send(operacion, probada.guia, body(probada), phone)
        const { secuencia, entregadas } = await look(probada.guia)
        for (const { guia, con_prueba, razon } of entregadas > seen.size ? await readDelivered() : []) {
          if (seen.has(guia)) continue
          seen.add(guia)
          hallado[operacion.id] = con_prueba ? 'prueba' : razon ? 'razón' : 'nada'
          expect([operacion.id, hallado[operacion.id]]).toEqual([operacion.id, ENTREGAN[operacion.id]])
        }
        if (secuencia !== probada.secuencia) probada = undefined
      }
    }
  }
  expect(hallado).toEqual(ENTREGAN)
}

describe('a guide becomes entregado only through the operations that leave a proof or a reason', () => {
  it('on the way to the door', () => tryEverything([['recolectado', 'en_ruta']]))

  it('on any way', FULL_RUN_ONLY, () => tryEverything(CAMINOS))
})
