import { setTimeout as esperar } from 'node:timers/promises'
import { Agent, fetch } from 'undici'
import { nuevaGuia } from '../arnes/datos.ts'
import type { Banco, ComercioDeBench, Programa } from '../arnes/entorno.ts'
import type { Marca } from '../arnes/informe.ts'
import { crearPersonas } from '../arnes/personas.ts'
import { cpuDe } from '../arnes/proceso.ts'
import { intercalar } from '../arnes/rondas.ts'
import { fila } from './crear.ts'
import type { Medida } from './medida.ts'

const FLUJOS = 200
const POR_SESION = 10
const CAMBIOS_POR_SEGUNDO = 10
/** Bound on the CPU of the streams, in percent of a core above that of the same changes without streams. */
const MARCA: Marca = { sentido: '≤', valor: 1, holgura: 5 }

/** Opens streams of the office's pages. Returns how many changes they were told, and the way to close them. */
async function abrirFlujos({ url }: Programa, cookies: readonly string[]) {
  const agente = new Agent({ connections: FLUJOS, bodyTimeout: 0 })
  const dichos = { cambios: 0 }
  const aborto = new AbortController()
  const leer = async (Cookie: string) => {
    const headers = { Cookie }
    const { status, body } = await fetch(`${url}/central/en-vivo`, {
      ...{ headers, signal: aborto.signal, dispatcher: agente },
    })
    if (status !== 200) throw new Error(`a stream was answered ${status}`)
    void (async () => {
      for await (const trozo of body!) dichos.cambios += Buffer.from(trozo).toString().split('event: cambio').length - 1
    })().catch(() => {})
  }
  for (const cookie of cookies) await Promise.all(Array.from({ length: POR_SESION }, () => leer(cookie)))
  const cerrar = async () => {
    aborto.abort()
    await agente.destroy()
  }
  return { dichos, cerrar }
}

/** Creates guides at a fixed rate. Returns the CPU of the service meanwhile, in percent of a core. */
async function cambiar({ url, pid }: Programa, { llave }: ComercioDeBench, segundos: number): Promise<number> {
  const headers = { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' }
  const [inicio, antes] = [performance.now(), cpuDe(pid)!]
  for (let i = 0; i < segundos * CAMBIOS_POR_SEGUNDO; i++) {
    await esperar(Math.max(0, inicio + (i * 1_000) / CAMBIOS_POR_SEGUNDO - performance.now()))
    const { status } = await fetch(`${url}/api/v1/guias`, { method: 'POST', headers, body: nuevaGuia() })
    if (status !== 201) throw new Error(`a guide was answered ${status}`)
  }
  return ((cpuDe(pid)! - antes) / ((performance.now() - inicio) / 1_000)) * 100
}

/** Pages that are read to learn what one costs. A network may read some thousand in a minute. */
const PAGINAS = 200

/** Reads the list of guides as open pages do. Returns the CPU of the service for a page, in milliseconds. */
async function leerPaginas({ url, pid }: Programa, cookies: readonly string[]): Promise<number> {
  const leer = async (i: number) => {
    const respuesta = await fetch(`${url}/central/guias`, {
      headers: { Cookie: cookies[i % cookies.length]! },
    })
    await respuesta.text()
    if (respuesta.status !== 200) throw new Error(`a page was answered ${respuesta.status}`)
  }
  for (let i = 0; i < PAGINAS; i++) await leer(i)
  const antes = cpuDe(pid)!
  for (let i = 0; i < PAGINAS; i++) await leer(i)
  return ((cpuDe(pid)! - antes) / PAGINAS) * 1_000
}

const medir = (banco: Banco) =>
  banco.conBase(async (base) => {
    const [comercio] = await base.crearComercios(1, 'live')
    const cookies = await crearPersonas(base, FLUJOS / POR_SESION)
    const programa = await base.servicio({ WORKERS: '0' })
    const { rondas, segundos } = banco.opciones
    let dichos = 0
    const sinFlujos = () => cambiar(programa, comercio!, segundos)
    const conFlujos = async () => {
      const flujos = await abrirFlujos(programa, cookies)
      const cpu = await cambiar(programa, comercio!, segundos)
      dichos += flujos.dichos.cambios
      await flujos.cerrar()
      return cpu
    }
    await intercalar(1, { programa: conFlujos, referencia: sinFlujos })
    const valores = await intercalar(rondas, { programa: conFlujos, referencia: sinFlujos })
    const lectura = await leerPaginas(programa, cookies)
    return {
      filas: [
        fila(
          `${FLUJOS} páginas abiertas, ${CAMBIOS_POR_SEGUNDO} cambios por segundo`,
          '% de un núcleo',
          'sin páginas',
          valores,
          MARCA,
        ),
      ],
      notas: [`se avisó ${dichos} veces`, `leer otra vez /central/guias cuesta ${lectura.toFixed(1)} ms de CPU`],
    }
  })

export const vivo: Medida[] = [
  {
    clave: 'vivo',
    descripcion: 'los avisos a las páginas abiertas de la central, contra los mismos cambios sin páginas',
    aparte: () => true,
    medir,
  },
]
