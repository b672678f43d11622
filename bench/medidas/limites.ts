import { setTimeout as dormir } from 'node:timers/promises'
import { cargar, type Peticion } from '../arnes/carga.ts'
import { guiaFaltosa, nuevaGuia } from '../arnes/datos.ts'
import type { Banco, Programa } from '../arnes/entorno.ts'
import type { Medida } from '../arnes/informe.ts'
import { formatearNumero } from '../arnes/numero.ts'
import { intercalar, resumir } from '../arnes/rondas.ts'
import { calentar, cargaDeCrear, fila } from './crear.ts'

/** Merchants that create guides at their usual rate (VECINOS), and requests per second of each (RITMO). */
const VECINOS = 8
const RITMO_DE_VECINOS = 20
/** Connections of the flood. */
const CONEXIONES = 32

/** Flood of requests at ten times the rate limit. */
interface Inundacion {
  nombre: string
  /** Rate of the flood, in requests per second. */
  porSegundo: number
  peticion: () => Peticion
}

const INUNDACIONES: readonly Inundacion[] = [
  {
    nombre: 'creaciones',
    porSegundo: 500,
    peticion: () => ({ metodo: 'POST', ruta: '/api/v1/guias', cuerpo: nuevaGuia() }),
  },
  {
    nombre: 'lotes de cien, todas con fallas',
    porSegundo: 50,
    peticion: () => ({
      metodo: 'POST',
      ruta: '/api/v1/guias/bulk',
      cuerpo: `{"guias":[${Array.from({ length: 100 }, guiaFaltosa).join()}]}`,
    }),
  },
  {
    nombre: 'listas de cien',
    porSegundo: 500,
    peticion: () => ({ metodo: 'GET', ruta: '/api/v1/guias?limite=100' }),
  },
]

/**
 * Measures the p95 of eight merchants at their usual rate while another merchant floods the service, with the default
 * limits. The reference is the same flood to a bare server that answers 429.
 */
const medir =
  ({ nombre, porSegundo, peticion }: Inundacion) =>
  (banco: Banco) =>
    banco.conBase(async (base) => {
      const { segundos, rondas } = banco.opciones
      const vecinos = await base.crearComercios(VECINOS)
      const [inundador] = await base.crearComercios(1, 'live', { solicitudes: 50, guias: 100 })
      // As in production, the service writes its log and has the default limits.
      const servicio = await base.servicio({
        REQUESTS_PER_NETWORK: '50',
        CONNECTIONS_PER_NETWORK: '500',
        LOG_LEVEL: 'info',
      })
      const desnudo = await base.programa('desnudo.ts', ['429'])
      const deVecinos = { ...cargaDeCrear(servicio.url, vecinos, VECINOS, segundos), ritmo: RITMO_DE_VECINOS }
      await calentar(banco, base, { ...deVecinos, ritmo: 100 })
      const inundar = ({ url }: Programa) =>
        cargar({
          url,
          segundos: segundos + 1,
          conexiones: CONEXIONES,
          ritmo: porSegundo / CONEXIONES,
          siguiente: () => ({ ...peticion(), llave: inundador!.llave }),
        })
      const enviadas: number[] = []
      const con = (programa: Programa) => async () => {
        const inundando = inundar(programa)
        // The flood reaches full rate before the neighbours start.
        await dormir(500)
        const [{ p95 }, enviada] = await Promise.all([cargar(deVecinos), inundando])
        if (programa === servicio) enviadas.push(enviada.porSegundo)
        return p95
      }
      await con(servicio)()
      enviadas.length = 0
      const valores = await intercalar(rondas, { programa: con(servicio), referencia: con(desnudo) })
      const marca = { sentido: '≤' as const, valor: 1.25, holgura: 10 }
      return {
        filas: [fila(`p95 de ${VECINOS} comercios, otro inunda de ${nombre}`, 'ms', '429 desnudo', valores, marca)],
        notas: [`la inundación: ${formatearNumero(resumir(enviadas).mediana)} por segundo`],
      }
    })

export const limites: Medida[] = INUNDACIONES.map((inundacion, n) => ({
  clave: `limite${n + 1}`,
  descripcion: `creaciones de los demás mientras uno inunda de ${inundacion.nombre}, con los límites de todos`,
  aparte: () => true,
  medir: medir(inundacion),
}))
