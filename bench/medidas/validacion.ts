import type { Banco } from '../arnes/entorno.ts'
import type { Fila } from '../arnes/informe.ts'
import { intercalar, resumir } from '../arnes/rondas.ts'
import { calentar, cargaDeCrear, medidor } from './crear.ts'
import type { Medida } from './medida.ts'

/** The same app with and without express-openapi-validator's middlewares: CPU time per creation, which noise moves less than rates. */
const medir = (banco: Banco) =>
  banco.conBase(async (base) => {
    const comercios = await base.crearComercios(1)
    const preparar = async (variante: 'con' | 'sin') => {
      const programa = await base.programa('servidor.ts', [variante])
      const carga = cargaDeCrear(programa.url, comercios, 32, banco.opciones.segundos)
      await calentar(banco, base, carga)
      return medidor(banco, programa, carga)
    }
    const con = await preparar('con')
    const sin = await preparar('sin')
    await intercalar(banco.opciones.rondas, { con: con.medir, sin: sin.medir })
    const costos = (lado: typeof con, conPostgres: boolean) =>
      lado.cargas.map(({ cpu }) => cpu.servidor + (conPostgres ? cpu.postgres : 0))
    const filaDe = (donde: string, conPostgres: boolean): Fila => {
      const [programa, referencia] = [costos(con, conPostgres), costos(sin, conPostgres)]
      return {
        medida: `validación por contrato: parte del tiempo de CPU de una creación, ${donde}`,
        unidad: '%',
        programa: resumir(programa.map((costo, i) => (1 - referencia[i]! / costo) * 100)),
        marca: { sentido: '≤', valor: 10, absoluta: true },
      }
    }
    return {
      filas: [filaDe('Node y PostgreSQL', true), filaDe('solo Node', false)],
      notas: [con.nota('con validación'), sin.nota('sin validación')],
    }
  })

export const validacion: Medida[] = [
  { clave: 'validacion', descripcion: 'parte de la creación que cuesta la validación por contrato', medir },
]
