import { setTimeout as dormir } from 'node:timers/promises'
import { type Carga, cargar } from '../arnes/carga.ts'
import { nuevaGuia } from '../arnes/datos.ts'
import type { Banco, Programa } from '../arnes/entorno.ts'
import { numero } from '../arnes/numero.ts'
import { intercalar, resumir } from '../arnes/rondas.ts'
import { calentar, cargaDeCrear, fila } from './crear.ts'
import type { Medida } from './medida.ts'

/** Merchants that do what they always do, and what each asks for in a second. */
const VECINOS = 8
const RITMO = 20
/** What the flood asks for is so many times what all of them do. */
const VECES = 10
/** Connections of the flood. */
const CONEXIONES = 32

/** What one merchant floods the service with: a request, and how many guides it stands for. */
interface Inundacion {
  nombre: string
  guias: number
  espera: number
  peticion: () => { ruta: string; cuerpo: string }
}

const CREACIONES: Inundacion = {
  nombre: 'creaciones',
  guias: 1,
  espera: 201,
  peticion: () => ({ ruta: '/api/v1/guias', cuerpo: nuevaGuia() }),
}

/** A batch in which every tenth entry is refused. */
const LOTES: Inundacion = {
  nombre: 'lotes con fallas',
  guias: 100,
  espera: 200,
  peticion: () => ({
    ruta: '/api/v1/guias/bulk',
    cuerpo: `{"guias":[${Array.from({ length: 100 }, (_, i) =>
      i % 10 === 0 ? nuevaGuia().replace(/"telefono":"[^"]*"/, '"telefono":"123"') : nuevaGuia(),
    ).join()}]}`,
  }),
}

/** The neighbours' p95, while one merchant floods the service, and while the same flood meets a bare server. */
const inundacion =
  ({ nombre, guias, espera, peticion }: Inundacion) =>
  (banco: Banco) =>
    banco.conBase(async (base) => {
      const [inundador, ...vecinos] = await base.crearComercios(1 + VECINOS)
      const { segundos, rondas } = banco.opciones
      const servicio = await base.servicio()
      const desnudo = await base.programa('desnudo.ts', [`${espera}`])
      const deVecinos: Carga = { ...cargaDeCrear(servicio.url, vecinos, VECINOS, segundos), ritmo: RITMO }
      const deInundacion = ({ url }: Programa): Carga => ({
        url,
        conexiones: CONEXIONES,
        segundos: segundos + 1,
        espera,
        ritmo: (VECES * VECINOS * RITMO) / guias / CONEXIONES,
        siguiente: () => ({ metodo: 'POST', llave: inundador!.llave, ...peticion() }),
      })
      await calentar(banco, base, { ...deVecinos, ritmo: 100 })
      const inundadas: number[] = []
      const con = (programa: Programa) => async () => {
        const inundando = cargar(deInundacion(programa))
        // The flood stands already when its neighbours come.
        await dormir(500)
        const [{ p95 }, { porSegundo }] = await Promise.all([cargar(deVecinos), inundando])
        if (programa === servicio) inundadas.push(porSegundo)
        return p95
      }
      await con(servicio)()
      inundadas.length = 0
      const valores = await intercalar(rondas, { programa: con(servicio), referencia: con(desnudo) })
      const marca = { sentido: '≤' as const, valor: 1.25, holgura: 10 }
      return {
        filas: [
          fila(`p95 de ${VECINOS} comercios, otro inunda de ${nombre}`, 'ms', 'servidor desnudo', valores, marca),
        ],
        notas: [
          `los vecinos, ${VECINOS * RITMO} creaciones/s; la inundación, ${numero(resumir(inundadas).mediana)} solicitudes/s (${VECES} veces las guías de todos ellos)`,
        ],
      }
    })

export const inundaciones: Medida[] = [
  {
    clave: 'inundacion',
    descripcion: 'creaciones de los demás mientras un comercio crea diez veces lo de todos',
    medir: inundacion(CREACIONES),
  },
  {
    clave: 'inundacionlotes',
    descripcion: 'lo mismo, en lotes con fallas',
    medir: inundacion(LOTES),
  },
]
