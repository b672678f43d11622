import { guardarOperadorConLlave } from '../../server/domain/operadores/operador.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import type { ParametrosDeCarga } from '../arnes/carga.ts'
import type { Banco } from '../arnes/entorno.ts'
import type { Marca } from '../arnes/informe.ts'
import { miles } from '../arnes/numero.ts'
import { crearPersonas } from '../arnes/personas.ts'
import { intercalar } from '../arnes/rondas.ts'
import { fila, medidor } from './crear.ts'
import type { Medida } from './medida.ts'

const CONEXIONES = 16
/** Sessions of other persons, which make no requests. */
const EN_REPOSO = 10_000
/** Bound on the CPU of a request with a session, relative to one with a key. */
const MARCA: Marca = { sentido: '≤', valor: 1.1 }

/** Compares the CPU of the service for a request with a session and for the same request with an operator's key. */
const medir = (banco: Banco) =>
  banco.conBase(async (base) => {
    await base.crearComercios(20)
    const { llave } = await guardarOperadorConLlave(
      { db: base.db, nuevoId: createIdGenerator(() => new Date()) },
      'Banco',
    )
    const [Cookie] = (await crearPersonas(base, 1)) as [string]
    const programa = await base.servicio({ WORKERS: '0' })
    const { rondas, segundos } = banco.opciones
    const carga = (peticion: { llave?: string; cabeceras?: Record<string, string> }): ParametrosDeCarga => ({
      ...{ url: programa.url, conexiones: CONEXIONES, segundos, espera: 200 },
      siguiente: () => ({ metodo: 'GET', ruta: '/operaciones/v1/comercios', ...peticion }),
    })
    const conLlave = medidor(banco, programa, carga({ llave }))
    const conSesion = medidor(banco, programa, carga({ cabeceras: { Cookie } }))
    const cpu = (uno: typeof conLlave) => async () => {
      await uno.medir()
      return uno.cargas.at(-1)!.cpu.servidor
    }
    const comparar = async (medida: string) => {
      await intercalar(1, { programa: cpu(conSesion), referencia: cpu(conLlave) })
      const valores = await intercalar(rondas, { programa: cpu(conSesion), referencia: cpu(conLlave) })
      return fila(medida, 'µs de CPU', 'con una llave', valores, MARCA)
    }
    const pocas = await comparar('una solicitud con sesión')
    await crearPersonas(base, EN_REPOSO)
    const muchas = await comparar(`una solicitud con sesión, y ${miles(EN_REPOSO)} sesiones en reposo`)
    const { rows } = await base.db.pool.query<{ mb: number }>(
      `select pg_total_relation_size('sesion_persona') / 1e6 as mb`,
    )
    return {
      filas: [pocas, muchas],
      notas: [`la tabla de las sesiones ocupa ${Number(rows[0]!.mb).toFixed(1)} MB`],
    }
  })

export const sesiones: Medida[] = [
  {
    clave: 'sesiones',
    descripcion: 'una solicitud con la sesión de una persona, contra la misma con una llave',
    aparte: () => true,
    medir,
  },
]
