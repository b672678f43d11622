import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as dormir } from 'node:timers/promises'
import { cargar, type ParametrosDeCarga, type Peticion } from '../arnes/carga.ts'
import { guiaFaltosa, nuevaGuia, nuevoLote } from '../arnes/datos.ts'
import { type Banco, type Base, type ComercioDeBench, type Programa, RUTA_RAIZ } from '../arnes/entorno.ts'
import { lanzar } from '../arnes/limpieza.ts'
import { registrarEndpoints } from '../arnes/webhooks.ts'
import type { Medida } from './medida.ts'
import { CONEXIONES, medirVecinos, VECINOS } from './vecinos.ts'

/** Existing guides of the flooding merchant, for requests that count or list guides. */
const GUIAS = 2_000
/** Connections that never read their answers. */
const LECTORES = 400

interface Escena {
  base: Base
  banco: Banco
  servicio: Programa
  /** Merchant that floods, with the default rate limits. */
  inundador: ComercioDeBench
  guias: readonly string[]
}

/** Flood of requests at ten times the rate limit. */
interface Inundacion {
  nombre: string
  /** Rate of the flood, in requests per second. */
  porSegundo: number
  preparar: (escena: Escena) => Promise<() => Omit<Peticion, 'llave'> & { llave?: string }>
}

const INUNDACIONES: readonly Inundacion[] = [
  {
    nombre: 'creaciones',
    porSegundo: 500,
    preparar: async () => () => ({ metodo: 'POST', ruta: '/api/v1/guias', cuerpo: nuevaGuia() }),
  },
  {
    nombre: 'lotes de cien, todas con fallas',
    porSegundo: 50,
    preparar: async () => () => ({
      metodo: 'POST',
      ruta: '/api/v1/guias/bulk',
      cuerpo: `{"guias":[${Array.from({ length: 100 }, guiaFaltosa).join()}]}`,
    }),
  },
  {
    nombre: 'ensayos de recuperar',
    porSegundo: 50,
    async preparar({ base, banco, inundador }) {
      const [{ webhook } = { webhook: '' }] = await registrarEndpoints(
        banco,
        base,
        [inundador],
        () => 'http://127.0.0.1:9/x',
      )
      const cuerpo = JSON.stringify({ desde: new Date(Date.now() - 3_600_000), ensayo: true, todas: true })
      return () => ({ metodo: 'POST', ruta: `/api/v1/webhooks/${webhook}/recuperar`, cuerpo })
    },
  },
  {
    nombre: 'etiquetas de cien guías y sus enlaces',
    porSegundo: 50,
    async preparar({ servicio, inundador, guias }) {
      const cuerpo = JSON.stringify({ guias: guias.slice(0, 100) })
      const headers = { Authorization: `Bearer ${inundador.llave}`, 'Content-Type': 'application/json' }
      const respuesta = await fetch(`${servicio.url}/api/v1/etiquetas`, { method: 'POST', headers, body: cuerpo })
      const { url } = (await respuesta.json()) as { url: string }
      const { pathname, search } = new URL(url)
      let n = 0
      return () =>
        n++ % 2 === 0
          ? { metodo: 'GET', ruta: pathname + search }
          : { metodo: 'POST', ruta: '/api/v1/etiquetas', cuerpo }
    },
  },
  {
    nombre: 'listas de cien',
    porSegundo: 500,
    preparar: async () => () => ({ metodo: 'GET', ruta: '/api/v1/guias?limite=100' }),
  },
  {
    nombre: 'entradas de repartidor',
    porSegundo: 500,
    preparar: async ({ servicio }) => {
      const cabeceras = { Origin: servicio.url }
      return () => ({ metodo: 'POST', ruta: '/repartidor/v1/sesion', cabeceras, cuerpo: '{"codigo":"AAAAA-BBBBB"}' })
    },
  },
]

type Inundar = (destino: Programa, segundos: number) => Promise<number>

/** Measures the delay that the flood of one merchant or address causes to other merchants, with the default limits. */
const medir = (inundar: (escena: Escena) => Promise<Inundar>, nombre: string) => (banco: Banco) =>
  banco.conBase(async (base) => {
    const vecinos = await base.crearComercios(VECINOS)
    const [inundador] = await base.crearComercios(1, 'live', { solicitudes: 50, guias: 100 })
    // As in production, the service writes its log and has the default limits.
    const servicio = await base.servicio({
      REQUESTS_PER_NETWORK: '50',
      CONNECTIONS_PER_NETWORK: '500',
      LOG_LEVEL: 'info',
    })
    const { filas, inundacion } = await medirVecinos(banco, base, {
      servicio,
      vecinos,
      status: 429,
      referencia: '429 desnudo',
      de: nombre,
      async preparar() {
        const guias = await crearGuias(servicio, inundador!)
        return inundar({ base, banco, servicio, inundador: inundador!, guias })
      },
    })
    return { filas, notas: [`la inundación: ${inundacion} por segundo`] }
  })

async function crearGuias({ url }: Programa, { llave }: ComercioDeBench): Promise<string[]> {
  const codigos: string[] = []
  const headers = { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' }
  while (codigos.length < GUIAS) {
    const respuesta = await fetch(`${url}/api/v1/guias/bulk`, { method: 'POST', headers, body: nuevoLote(100) })
    if (respuesta.status === 429) await dormir(Number(respuesta.headers.get('retry-after')) * 1_000)
    else {
      const { resultados } = (await respuesta.json()) as { resultados: { guia: string }[] }
      codigos.push(...resultados.map(({ guia }) => guia))
    }
  }
  return codigos
}

const porPeticiones =
  ({ porSegundo, preparar }: Inundacion) =>
  async (escena: Escena) => {
    const peticion = await preparar(escena)
    return async ({ url }: Programa, segundos: number) => {
      const carga: ParametrosDeCarga = {
        url,
        segundos,
        conexiones: CONEXIONES,
        ritmo: porSegundo / CONEXIONES,
        siguiente: () => ({ llave: escena.inundador.llave, ...peticion() }),
      }
      return (await cargar(carga)).porSegundo
    }
  }

/** Flood by connections that request pages and never read the answers. */
const porLectores =
  () =>
  async ({ inundador }: Escena) =>
  async ({ url }: Programa, segundos: number) => {
    const { hostname, port, host } = new URL(url)
    const pedido = `GET /api/v1/guias?limite=100 HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${inundador.llave}\r\n\r\n`
    const abiertos = Array.from({ length: LECTORES }, (): Socket => {
      const socket = connect({ host: hostname, port: Number(port) }).on('error', () => {})
      socket.pause().write(pedido.repeat(3))
      return socket
    })
    await dormir(segundos * 1_000)
    for (const socket of abiertos) socket.destroy()
    return LECTORES / segundos
  }

/**
 * Flood from an address without a key, sent by a separate process (`bench/inundador.ts`): 400 connections request one
 * tracking page.
 */
interface DeDesconocido {
  clave: string
  nombre: string
  porSegundo: number
  /** Pipelined requests per write. Default: 1. */
  seguidas?: number
  /** Loopback address of the flood, 127.0.0.2 by default. The neighbours use 127.0.0.1. */
  desde?: string
}

const DESCONOCIDOS: readonly DeDesconocido[] = [
  { clave: 'limitered500', nombre: '500 páginas/s sin llave', porSegundo: 500 },
  { clave: 'limitered1000', nombre: '1000 páginas/s sin llave', porSegundo: 1_000 },
  { clave: 'limitered4000', nombre: '4000 páginas/s sin llave', porSegundo: 4_000 },
  { clave: 'limiteredtuberia', nombre: '4000 páginas/s sin llave, de 15 en 15', porSegundo: 4_000, seguidas: 15 },
  {
    clave: 'limiteredvecina',
    nombre: '4000 páginas/s sin llave, desde la red de los vecinos',
    porSegundo: 4_000,
    desde: '127.0.0.1',
  },
]

const porDesconocido =
  ({ porSegundo, seguidas = 1, desde = '127.0.0.2' }: DeDesconocido) =>
  async () =>
  async ({ url }: Programa, segundos: number) => {
    const args = [url, desde, porSegundo, seguidas, segundos].map(String)
    const { hijo } = lanzar(process.execPath, [`${RUTA_RAIZ}bench/inundador.ts`, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let enviadas = 0
    for await (const linea of createInterface(hijo.stdout!)) if (linea !== 'listo') enviadas = Number(linea)
    return enviadas / segundos
  }

export const limites: Medida[] = [
  ...INUNDACIONES.map((inundacion, n) => ({
    clave: `limite${n + 1}`,
    descripcion: `creaciones de los demás mientras uno inunda de ${inundacion.nombre}, con los límites de todos`,
    aparte: () => true,
    medir: medir(porPeticiones(inundacion), inundacion.nombre),
  })),
  {
    clave: 'limitelectores',
    descripcion: 'creaciones de los demás mientras cuatrocientos lectores no leen',
    aparte: () => true,
    medir: medir(porLectores(), 'conexiones que no leen'),
  },
  ...DESCONOCIDOS.map((inundacion) => ({
    clave: inundacion.clave,
    descripcion: `creaciones de los demás mientras una dirección inunda: ${inundacion.nombre}`,
    aparte: () => true,
    medir: medir(porDesconocido(inundacion), inundacion.nombre),
  })),
]
