import sharp from 'sharp'
import { guardarOperadorConLlave } from '../../server/domain/operadores/operador.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import { cargar, type Peticion } from '../arnes/carga.ts'
import { nuevoLote } from '../arnes/datos.ts'
import { type Banco, type Base, type ComercioDeBench, puertoLibreAhora } from '../arnes/entorno.ts'
import type { Medida } from '../arnes/informe.ts'
import { intercalar, resumir } from '../arnes/rondas.ts'

const GUIAS = 100

/** Setup of an event loop measurement: a service with metrics, and the data for the requests. */
interface Escena {
  url: string
  metricas: string
  comercio: ComercioDeBench
  /** Path of a signed link to a hundred labels. */
  etiquetas: string
  /** Guides for the uploads. A hundred, because each guide accepts only a few pictures. */
  guias: readonly string[]
  /** API key of an operator. */
  llave: string
  /** JPEG of twelve megapixels of noise, like a photo from a phone. */
  foto: Uint8Array<ArrayBuffer>
}

async function montar({ db, servicio, crearComercios }: Base): Promise<Escena> {
  const puerto = await puertoLibreAhora()
  const [comercio] = await crearComercios(1)
  const { llave } = await guardarOperadorConLlave({ db, nuevoId: createIdGenerator(() => new Date()) }, 'Banco')
  const { url } = await servicio({ METRICS_PORT: `${puerto}` })
  const pedir = async <T>(ruta: string, cuerpo: string): Promise<T> => {
    const headers = { Authorization: `Bearer ${comercio!.llave}`, 'Content-Type': 'application/json' }
    const respuesta = await fetch(`${url}/api/v1/${ruta}`, { method: 'POST', headers, body: cuerpo })
    return (await respuesta.json()) as T
  }
  const { resultados } = await pedir<{ resultados: { guia: string }[] }>('guias/bulk', nuevoLote(GUIAS))
  const guias = resultados.map(({ guia }) => guia)
  const enlace = new URL((await pedir<{ url: string }>('etiquetas', JSON.stringify({ guias }))).url)
  const foto = await sharp({
    create: {
      width: 4_000,
      height: 3_000,
      channels: 3,
      background: '#888888',
      noise: { type: 'gaussian', mean: 128, sigma: 20 },
    },
  })
    .jpeg({ quality: 60 })
    .toBuffer()
  return {
    url,
    metricas: `http://127.0.0.1:${puerto}/metrics`,
    comercio: comercio!,
    etiquetas: enlace.pathname + enlace.search,
    guias,
    llave,
    foto: new Uint8Array(foto),
  }
}

/**
 * Uploads photos on two connections, so that the service decodes one while the other arrives.
 * @returns photos per second
 */
async function subirFotos({ url, guias, llave, foto }: Escena, segundos: number): Promise<number> {
  const fin = performance.now() + segundos * 1_000
  let cuantas = 0
  const headers = { Authorization: `Bearer ${llave}`, 'Content-Type': 'image/jpeg' }
  const conducir = async () => {
    while (performance.now() < fin) {
      // A guide takes few: those of all cells are spread.
      const guia = guias[Math.floor(Math.random() * guias.length)]
      const destino = `${url}/operaciones/v1/guias/${guia}/archivos?tipo=foto`
      const respuesta = await fetch(destino, { method: 'POST', headers, body: foto })
      if (respuesta.status !== 201) throw new Error(`foto: ${respuesta.status} ${await respuesta.text()}`)
      await respuesta.body?.cancel()
      cuantas++
    }
  }
  await Promise.all([conducir(), conducir()])
  return cuantas / segundos
}

/**
 * Reads the event loop delay that the service measured since the previous scrape (`perf_hooks.monitorEventLoopDelay`),
 * in milliseconds.
 */
async function leerRetrasos(metricas: string): Promise<{ p99: number; max: number }> {
  const texto = await (await fetch(metricas)).text()
  const leer = (nombre: string) =>
    Number(new RegExp(`^nodejs_eventloop_lag_${nombre}_seconds (\\S+)$`, 'm').exec(texto)?.[1]) * 1_000
  return { p99: leer('p99'), max: leer('max') }
}

type Cargar = (escena: Escena, segundos: number) => Promise<string>

/** Returns a load of requests on two connections, each for `cuantas` items. */
const dosConexiones =
  (unidad: string, cuantas: number, peticion: (escena: Escena) => Peticion): Cargar =>
  async (escena, segundos) => {
    const siguiente = () => ({ ...peticion(escena), llave: escena.comercio.llave })
    const { porSegundo } = await cargar({ url: escena.url, conexiones: 2, segundos, espera: 200, siguiente })
    return `${(porSegundo * cuantas).toFixed(0)} ${unidad}/s`
  }
const etiquetas = dosConexiones('etiquetas', GUIAS, (escena) => ({ metodo: 'GET', ruta: escena.etiquetas }))
const fotos: Cargar = async (escena, segundos) => `${(await subirFotos(escena, segundos)).toFixed(1)} fotos/s`
const lote = () => ({ metodo: 'POST', ruta: '/api/v1/guias/bulk', cuerpo: nuevoLote(GUIAS) }) as const
const lotes = dosConexiones('guías', GUIAS, lote)
const paginas = dosConexiones('páginas', 1, () => ({ metodo: 'GET', ruta: '/api/v1/guias?limite=100' }))

const EN_REPOSO = 'en reposo'
const CARGAS: Readonly<Record<string, Cargar>> = {
  [EN_REPOSO]: async (_escena, segundos) => {
    await new Promise((resolve) => setTimeout(resolve, segundos * 1_000))
    return 'nada'
  },
  'con etiquetas de 100 en 100, 2 conexiones': etiquetas,
  'con fotos de 12 megapíxeles, 2 conexiones': fotos,
  'con lotes de 100, 2 conexiones': lotes,
  'con páginas de 100, 2 conexiones': paginas,
  'con todo a la vez': async (...carga) =>
    (await Promise.all([etiquetas, fotos, lotes, paginas].map((cargarCon) => cargarCon(...carga)))).join(', '),
}

const bucle = (banco: Banco) =>
  banco.conBase(async (base) => {
    const { rondas, segundos } = banco.opciones
    const escena = await montar(base)
    // A first, unmeasured round loads modules and compiles code.
    for (const cargarCon of Object.values(CARGAS)) await cargarCon(escena, segundos)
    const notas = ['De cada retraso, 10 ms son lo que espera el propio reloj que lo mide.']
    const medir = (nombre: string, cargarCon: Cargar) => async () => {
      await leerRetrasos(escena.metricas)
      const hecho = await cargarCon(escena, segundos)
      const { p99, max } = await leerRetrasos(escena.metricas)
      notas.push(`${nombre}: ${hecho}; el mayor retraso, ${max.toFixed(0)} ms`)
      return p99
    }
    const valores = await intercalar(
      rondas,
      Object.fromEntries(Object.entries(CARGAS).map(([nombre, cargarCon]) => [nombre, medir(nombre, cargarCon)])),
    )
    const filas = Object.keys(CARGAS).map((nombre) => ({
      medida: `retraso del bucle de eventos ${nombre}, p99`,
      unidad: 'ms',
      programa: resumir(valores[nombre]!),
      referencia: { nombre: EN_REPOSO, serie: resumir(valores[EN_REPOSO]!) },
      marca: { sentido: '≤' as const, valor: 20, absoluta: true },
    }))
    return { filas, notas }
  })

export const bucleDeEventos: Medida[] = [
  { clave: 'bucle', descripcion: 'retraso del bucle de eventos con etiquetas, fotos y lotes', medir: bucle },
]
