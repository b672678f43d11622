// What merchants sent and got before an upgrade: repetitions of their creations, and bodies of webhooks sent again.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { git } from '../../scripts/anterior/etiqueta.ts'
import { construirAnterior } from '../../scripts/anterior/migracion.ts'
import { type Db, openDb } from '../../server/data/db.ts'
import { rolePassword, SERVICE_ROLE } from '../../server/data/embedded/role.ts'
import { COMPLETO, hasta, RECOGIDA, sinDestino, unaGuia } from '../fabricas.ts'
import { corregir } from '../guias/corregir.ts'
import { pedirAparte, usarProcesos } from '../procesos.ts'
import { usarReceptores } from './receptor.ts'

/** Commit of the last version without versions of bodies, and without names in the digests of creations. */
const ANTERIOR = '1790f0df583ddfae3be85808d37dd024f1dbb3d8'

const enHistoria = await git('cat-file', '-e', ANTERIOR).then(
  () => true,
  () => false,
)

const procesos = usarProcesos()
const nuevoReceptor = usarReceptores()
const abiertas: Db[] = []
afterAll(() => Promise.all(abiertas.map((db) => db.cerrar())))

/** The service of a folder, or the present one, on the test's data. */
async function levantar(dataDir: string, carpeta?: string) {
  const orden = [process.execPath, 'server/generado/main.mjs']
  const proceso = procesos.correr(orden, { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' }, carpeta)
  await hasta(async () => {
    if (proceso.fin) throw new Error(`${proceso.salida}${proceso.errores}`)
    return /^ {2}API +http/m.test(proceso.salida)
  })
  const { url, llave, llave_operaciones } = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'))
  const llamar = (conLlave: string, base: string) => async (metodo: string, ruta: string, cuerpo?: unknown) => {
    const { status, texto } = await pedirAparte(`${url}${base}${ruta}`, { metodo, llave: conLlave, cuerpo })
    return { status, cuerpo: texto === '' ? undefined : JSON.parse(texto) }
  }
  const cerrar = async () => {
    process.kill(proceso.pid, 'SIGTERM')
    expect(await proceso.termina()).toEqual({ codigo: 0, senal: null })
  }
  return { api: llamar(llave, '/api/v1'), operar: llamar(llave_operaciones, '/operaciones/v1'), cerrar }
}

type Servicio = Awaited<ReturnType<typeof levantar>>

/** The embedded database of a running service. */
async function abrirBase(dataDir: string): Promise<Db> {
  const { clave } = JSON.parse(await readFile(join(dataDir, 'postgres.json'), 'utf8'))
  const [, , , puerto] = (await readFile(join(dataDir, 'pgdata/postmaster.pid'), 'utf8')).split('\n')
  const db = openDb(`postgres://${SERVICE_ROLE}:${rolePassword(clave)}@127.0.0.1:${puerto}/guias`)
  abiertas.push(db)
  return db
}

/** Requests of creations of all kinds: places by coordinates, by link or unknown, warnings, optional members. */
const pedidas = () => [
  unaGuia({
    destinatario: 'Ana Pérez',
    direccion: '5a avenida 10-20',
    indicaciones: 'Portón ámbar',
    contenido: 'Ropa',
  }),
  unaGuia({ recogida: { nombre: 'Bodega', maps_url: 'https://maps.google.com/?q=14.6,-90.5' } }),
  unaGuia({ lat: 0, lng: 0, municipio: 'San Juan Sacatepequez', departamento: 'GUATEMALA' }),
  unaGuia({ lat: 14.71889, lng: 90.64417 }),
  sinDestino({ telefono: '5555 0001', pais: 'GT' }),
  sinDestino({ maps_url: 'https://www.google.com/maps/place/14.6349,-90.5069', municipio: 'Ninguno' }),
  sinDestino({ telefono: '+50322223333' }),
]

/** Creates guides one by one and in a batch, and moves them on. Returns the requests, each with its guide. */
async function vivir({ api, operar }: Servicio) {
  const creadas: { cuerpo: ReturnType<typeof pedidas>[number]; guia: string }[] = []
  for (const cuerpo of pedidas()) {
    const creada = await api('POST', '/guias', cuerpo)
    expect(creada.status).toBe(201)
    creadas.push({ cuerpo, guia: creada.cuerpo.guia })
  }
  const lote = pedidas()
  const { cuerpo: resumen } = await api('POST', '/guias/bulk', { guias: lote })
  for (const [i, { guia }] of resumen.resultados.entries()) creadas.push({ cuerpo: lote[i]!, guia })
  const mover = async (i: number, cuerpo: unknown) =>
    expect((await operar('POST', `/guias/${creadas[i]!.guia}/eventos`, cuerpo)).status).toBe(201)
  for (const estado of ['recolectado', 'en_bodega', 'en_ruta']) await mover(0, { estado, lat: 14.6, lng: -90.5 })
  await mover(0, { estado: 'intento_fallido', motivo: 'destinatario_ausente', descripcion: 'Nadie abrió' })
  await mover(0, { estado: 'en_ruta' })
  // The simulator delivers with a proof, in this version and in the version before.
  await api('POST', `/simulador/guias/${creadas[0]!.guia}/avanzar`, { estado: 'entregado' })
  await mover(1, { tipo: 'guia.nota', descripcion: 'Llamar antes' })
  await mover(2, { estado: 'recolectado' })
  await api('POST', `/guias/${creadas[3]!.guia}/cancelar`, { descripcion: 'Se arrepintió' })
  await api('POST', `/guias/${creadas[4]!.guia}/ubicacion`, { lat: 14.71889, lng: -90.64417 })
  return creadas
}

describe('data of the version before', COMPLETO, () => {
  it.skipIf(!enHistoria)('give the same answers and the same webhook bodies after the upgrade', async () => {
    const dataDir = procesos.carpetaNueva()
    const receptor = await nuevoReceptor()
    const antes = await levantar(dataDir, await construirAnterior({ commit: ANTERIOR }))
    const { webhook } = (await antes.api('POST', '/webhooks', { url: receptor.url })).cuerpo
    const creadas = await vivir(antes)
    const pendientes = async (servicio: Servicio) =>
      (await servicio.api('GET', `/webhooks/${webhook}/entregas?estado=pendiente`)).cuerpo.datos.length
    // The messages of guides without a place go out too, with events of their own.
    await hasta(async () => {
      const cuantos = receptor.recibidos.length
      await new Promise((resolve) => setTimeout(resolve, 500))
      return cuantos > 25 && receptor.recibidos.length === cuantos && (await pendientes(antes)) === 0
    })
    const primeros = new Map(receptor.recibidos.map(({ id, cuerpo }) => [id, cuerpo]))
    await antes.cerrar()

    const ahora = await levantar(dataDir)
    for (const { cuerpo, guia } of creadas) {
      const repetida = await ahora.api('POST', '/guias', cuerpo)
      expect([cuerpo, repetida.status, repetida.cuerpo.guia]).toEqual([cuerpo, 200, guia])
    }
    const otra = await ahora.api('POST', '/guias', { ...creadas[0]!.cuerpo, indicaciones: 'Otras' })
    expect([otra.status, otra.cuerpo.errores]).toMatchObject([409, [{ campo: '/indicaciones' }]])

    const entregas = [...primeros.keys()].map((id) => `ent_${webhook.slice(3)}_${id.slice(4)}`)
    const enviarOtraVez = async () => {
      receptor.recibidos.length = 0
      for (const entrega of entregas)
        expect((await ahora.api('POST', `/webhooks/${webhook}/entregas/${entrega}/reenviar`)).status).toBe(202)
      await hasta(async () => receptor.recibidos.length >= entregas.length && (await pendientes(ahora)) === 0)
      return new Map(receptor.recibidos.map(({ id, cuerpo }) => [id, cuerpo]))
    }
    expect(await enviarOtraVez()).toEqual(primeros)

    const db = await abrirBase(dataDir)
    const [maestra] = (await readFile(join(dataDir, 'master_keys'), 'utf8')).trim().split(',')
    for (const { guia } of creadas) {
      await corregir(
        db,
        guia,
        { telefono: '+50255550001', destinatario: 'Otra persona', lat: 14.5, lng: -90.4 },
        maestra,
      )
      const recogida = { ...RECOGIDA, nombre: 'Otra bodega', maps_url: null }
      await corregir(db, guia, { telefono: '+50255550002', municipio: 'Mixco', indicaciones: null, recogida }, maestra)
    }
    expect(await enviarOtraVez()).toEqual(primeros)
    await ahora.cerrar()
  })
})
