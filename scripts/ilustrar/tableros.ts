/**
 * Draws the dashboards of `despliegue/observabilidad/` from the values that a real Prometheus recorded while the
 * service was under load.
 */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as esperar } from 'node:timers/promises'
import { Guias } from '@guias/sdk'
import { abrirPrometheus, acortar } from '../prometheus.ts'
import { CON_LUGAR, FOTO, vivir } from './escenas.ts'
import { comoOperador, conServicioFresco, type Fresco, puertoLibre } from './servicio.ts'
import { dibujarTablero, type Tablero } from './tablero.ts'

const raiz = new URL('../../', import.meta.url)
const NOMBRES = ['servicio', 'recursos', 'trabajos']
/** Duration of the load that the pictures show, in seconds. */
const DURACION = 240
/** Time range of rates in the pictures, instead of the five minutes in the dashboards. */
const LAPSO = '15s'

/** Starts a merchant's server, which answers with the status that `responder` gives. */
async function abrirReceptor(responder: () => number) {
  const servidor = createServer((req, res) => {
    req.resume()
    req.on('end', () => setTimeout(() => res.writeHead(responder()).end(), 20 + Math.random() * 60))
  })
  await new Promise<void>((resolve) => servidor.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(servidor.address() as AddressInfo).port}/`,
    cerrar() {
      servidor.close()
      servidor.closeAllConnections()
    },
  }
}

/** Makes the file storage fail for a quarter of a minute. */
async function fallaElAlmacen(dataDir: string): Promise<void> {
  const archivos = join(dataDir, 'archivos')
  await esperar(130_000)
  await rename(archivos, `${archivos}-aparte`)
  await writeFile(archivos, '')
  await esperar(15_000)
  await rename(archivos, `${archivos}-malo`)
  await rename(`${archivos}-aparte`, archivos)
}

/** Returns the functions that create load, as merchants, couriers and strangers do. */
async function oficios(fresco: Fresco) {
  const { url, demo } = fresco
  const api = new Guias({ llave: demo.llave, baseUrl: url })
  const foto = new Uint8Array(await readFile(FOTO))
  const pedir = (ruta: string, opciones: RequestInit = {}) =>
    fetch(url + ruta, opciones).then((una) => una.arrayBuffer())
  return {
    crear: () => api.guias.crear(CON_LUGAR),
    listar: async () => api.guias.listar(),
    entregar: () => vivir(api, ['recolectado', 'en_ruta', 'entregado']),
    suscribir: (direccion: string) => api.webhooks.crear({ url: direccion }),
    async subir() {
      const { guia } = await api.guias.crear(CON_LUGAR)
      const headers = { Authorization: `Bearer ${demo.llave_operaciones}`, 'Content-Type': 'image/jpeg' }
      const ruta = `/operaciones/v1/guias/${guia}/archivos?tipo=foto`
      await pedir(ruta, { method: 'POST', headers, body: foto })
    },
    probarCodigo() {
      const headers = { 'Content-Type': 'application/json' }
      return pedir('/repartidor/v1/sesion', { method: 'POST', headers, body: '{"codigo":"AAAA-AAAA-AA"}' })
    },
    buscar: () => pedir('/no-existe'),
    invitar() {
      const persona = { correo: `p${Date.now()}@ejemplo.com`, nombre: 'Ana', alcances: ['ver'] }
      return comoOperador(fresco, '/invitaciones', persona)
    },
  }
}

/**
 * Creates load for {@link DURACION}. Meanwhile a merchant's server fails, the file storage fails, and strangers send
 * requests.
 */
async function trabajar(fresco: Fresco): Promise<void> {
  const inicio = Date.now()
  const segundo = () => (Date.now() - inicio) / 1_000
  const entre = (desde: number, hasta: number) => segundo() >= desde && segundo() < hasta
  const hacer = await oficios(fresco)
  const receptor = await abrirReceptor(() => (entre(60, 100) ? 500 : 204))
  await hacer.suscribir(receptor.url)
  const repetir = async (pausa: () => number, una: () => Promise<unknown>) => {
    while (segundo() < DURACION) {
      // Errors during the faults are expected, because the pictures show them.
      await una().catch(() => {})
      await esperar(pausa())
    }
  }
  await Promise.all([
    repetir(() => 400 + 250 * Math.sin(segundo() / 20), hacer.crear),
    repetir(() => 300, hacer.listar),
    repetir(() => 4_000, hacer.entregar),
    repetir(() => 2_500, hacer.subir),
    repetir(() => (entre(170, 190) ? 100 : 6_000), hacer.probarCodigo),
    repetir(() => (entre(195, 210) ? 5 : 3_000), hacer.buscar),
    repetir(() => 30_000, hacer.invitar),
    fallaElAlmacen(fresco.dataDir),
  ])
  receptor.cerrar()
}

/** Writes the pictures of the dashboards to `docs/`. */
export async function dibujarTableros(): Promise<void> {
  const puerto = await puertoLibre()
  await conServicioFresco(
    async (fresco) => {
      const prometheus = await abrirPrometheus(puerto, await puertoLibre())
      try {
        const desde = Date.now() / 1_000
        await trabajar(fresco)
        for (const nombre of NOMBRES) {
          const tablero = new URL(`despliegue/observabilidad/tablero-${nombre}.json`, raiz)
          const svg = await dibujarTablero(
            JSON.parse(await readFile(tablero, 'utf8')) as Tablero,
            prometheus,
            [desde, desde + DURACION],
            (expresion) => acortar(expresion, LAPSO),
          )
          await writeFile(new URL(`docs/tablero-${nombre}.svg`, raiz), svg)
          console.log(`docs/tablero-${nombre}.svg: ${Math.round(svg.length / 1_024)} KB`)
        }
      } finally {
        await prometheus.cerrar()
      }
    },
    { METRICS_PORT: `${puerto}` },
  )
}
