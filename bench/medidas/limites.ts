import { connect, type Socket } from 'node:net'
import { setTimeout as dormir } from 'node:timers/promises'
import { type Carga, cargar, type Peticion } from '../arnes/carga.ts'
import { nuevaGuia, nuevoLote } from '../arnes/datos.ts'
import type { Banco, Base, Comercio, Programa } from '../arnes/entorno.ts'
import { numero } from '../arnes/numero.ts'
import { intercalar, resumir } from '../arnes/rondas.ts'
import { registrar } from '../arnes/webhooks.ts'
import { calentar, cargaDeCrear, fila } from './crear.ts'
import type { Medida } from './medida.ts'

/** Merchants that do what they always do, and what each asks for in a second. */
const VECINOS = 8
const RITMO = 20
/** Connections of the flood. */
const CONEXIONES = 32
/** Guides that the flooding merchant has already, for what counts or lists them. */
const GUIAS = 2_000
/** Readers that take nothing. */
const LECTORES = 400

interface Escena {
  base: Base
  banco: Banco
  servicio: Programa
  /** Who floods: one merchant with the limits that everybody has. */
  inundador: Comercio
  guias: readonly string[]
}

/** A flood: ten times what its limit lets through. */
interface Inundacion {
  nombre: string
  /** Requests per second. */
  porSegundo: number
  preparar: (escena: Escena) => Promise<() => Omit<Peticion, 'llave'> & { llave?: string }>
}

const faltosa = () => nuevaGuia().replace(/"telefono":"[^"]*"/, '"telefono":"123"')

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
      cuerpo: `{"guias":[${Array.from({ length: 100 }, faltosa).join()}]}`,
    }),
  },
  {
    nombre: 'ensayos de recuperar',
    porSegundo: 50,
    async preparar({ base, banco, inundador }) {
      const [{ webhook } = { webhook: '' }] = await registrar(banco, base, [inundador], () => 'http://127.0.0.1:9/x')
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

/** The neighbours' p95, while one floods the service, and while the same flood meets a bare server that says 429. */
const medir =
  (inundar: (escena: Escena) => Promise<(destino: Programa, segundos: number) => Promise<number>>, nombre: string) =>
  (banco: Banco) =>
    banco.conBase(async (base) => {
      const vecinos = await base.crearComercios(VECINOS)
      const [inundador] = await base.crearComercios(1, 'live', { solicitudes: 50, guias: 100 })
      const { segundos, rondas } = banco.opciones
      const servicio = await base.servicio({ REQUESTS_PER_NETWORK: '50' })
      const desnudo = await base.programa('desnudo.ts', ['429'])
      const deVecinos: Carga = { ...cargaDeCrear(servicio.url, vecinos, VECINOS, segundos), ritmo: RITMO }
      await calentar(banco, base, { ...deVecinos, ritmo: 100 })
      const guias = await crearGuias(servicio, inundador!)
      const enviar = await inundar({ base, banco, servicio, inundador: inundador!, guias })
      const enviadas: number[] = []
      const con = (programa: Programa) => async () => {
        const inundando = enviar(programa, segundos + 1)
        // The flood stands already when its neighbours come.
        await dormir(500)
        const [{ p95 }, porSegundo] = await Promise.all([cargar(deVecinos), inundando])
        if (programa === servicio) enviadas.push(porSegundo)
        return p95
      }
      await con(servicio)()
      enviadas.length = 0
      const valores = await intercalar(rondas, { programa: con(servicio), referencia: con(desnudo) })
      const marca = { sentido: '≤' as const, valor: 1.25, holgura: 10 }
      return {
        filas: [fila(`p95 de ${VECINOS} comercios, otro inunda de ${nombre}`, 'ms', '429 desnudo', valores, marca)],
        notas: [`la inundación: ${numero(resumir(enviadas).mediana)} por segundo`],
      }
    })

async function crearGuias({ url }: Programa, { llave }: Comercio): Promise<string[]> {
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
      const carga: Carga = {
        url,
        segundos,
        conexiones: CONEXIONES,
        ritmo: porSegundo / CONEXIONES,
        siguiente: () => ({ llave: escena.inundador.llave, ...peticion() }),
      }
      return (await cargar(carga)).porSegundo
    }
  }

/** Who asks for pages on many connections and reads none of them. */
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
]
