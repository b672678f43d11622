import { cargar } from '../arnes/carga.ts'
import { guiaFaltosa, nuevaGuia } from '../arnes/datos.ts'
import type { Banco } from '../arnes/entorno.ts'
import type { Medida } from './medida.ts'
import { CONEXIONES, medirVecinos, RITMO_DE_VECINOS, VECINOS } from './vecinos.ts'

/** Guides of the flood, as a multiple of the guides of all neighbours together. */
const VECES = 10

/** Flood by one merchant: its request, and the number of guides that a request contains. */
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

/** Batches in which the service refuses every tenth guide. */
const LOTES: Inundacion = {
  nombre: 'lotes con fallas',
  guias: 100,
  espera: 200,
  peticion: () => ({
    ruta: '/api/v1/guias/bulk',
    cuerpo: `{"guias":[${Array.from({ length: 100 }, (_, i) => (i % 10 === 0 ? guiaFaltosa() : nuevaGuia())).join()}]}`,
  }),
}

const inundacion =
  ({ nombre, guias, espera, peticion }: Inundacion) =>
  (banco: Banco) =>
    banco.conBase(async (base) => {
      const [inundador, ...vecinos] = await base.crearComercios(1 + VECINOS)
      const { filas, inundacion } = await medirVecinos(banco, base, {
        servicio: await base.servicio(),
        vecinos,
        status: espera,
        referencia: 'servidor desnudo',
        de: nombre,
        preparar:
          async () =>
          async ({ url }, segundos) => {
            const ritmo = (VECES * VECINOS * RITMO_DE_VECINOS) / guias / CONEXIONES
            const siguiente = () => ({ metodo: 'POST', llave: inundador!.llave, ...peticion() }) as const
            return (await cargar({ url, conexiones: CONEXIONES, segundos, espera, ritmo, siguiente })).porSegundo
          },
      })
      return {
        filas,
        notas: [
          `los vecinos, ${VECINOS * RITMO_DE_VECINOS} creaciones/s; la inundación, ${inundacion} solicitudes/s (${VECES} veces las guías de todos ellos)`,
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
