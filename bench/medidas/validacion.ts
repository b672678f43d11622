import type { Banco } from '../arnes/entorno.ts'
import type { Medida } from '../arnes/informe.ts'
import { intercalar, resumir } from '../arnes/rondas.ts'
import { calentar, cargaDeCrear, medidor } from './crear.ts'

/** Seconds per cell. Cells are short and alternate, so that a slow moment of the machine affects both sides. */
const CELDA = 0.5

/**
 * Compares the CPU time per creation of the same app with and without the middlewares of express-openapi-validator. A
 * timer around them shows only a third of the cost, because their promises and garbage cost CPU elsewhere.
 */
const medir = (banco: Banco) =>
  banco.conBase(async (base) => {
    const { rondas, segundos } = banco.opciones
    const comercios = await base.crearComercios(1)
    const preparar = async (variante: 'con' | 'sin') => {
      const programa = await base.programa('servidor.ts', [variante])
      const carga = cargaDeCrear(programa.url, comercios, 32, CELDA)
      await calentar(banco, base, { ...carga, segundos })
      return medidor(banco, programa, carga)
    }
    const con = await preparar('con')
    const sin = await preparar('sin')
    const porRonda = Math.ceil(segundos / CELDA)
    await intercalar(rondas * porRonda, { con: con.medir, sin: sin.medir })

    const porRondas = ({ cargas }: typeof con, parte: 'servidor' | 'PostgreSQL') =>
      Array.from(
        { length: rondas },
        (_, i) => resumir(cargas.slice(i * porRonda, (i + 1) * porRonda).map(({ cpu }) => cpu[parte]!)).mediana,
      )
    const [node, sinValidar, postgres] = [
      porRondas(con, 'servidor'),
      porRondas(sin, 'servidor'),
      porRondas(con, 'PostgreSQL'),
    ]
    return {
      filas: [
        {
          medida: 'validación por contrato: parte del tiempo de CPU de una creación, Node y PostgreSQL',
          unidad: '%',
          programa: resumir(node.map((cpu, i) => ((cpu - sinValidar[i]!) / (cpu + postgres[i]!)) * 100)),
          marca: { sentido: '≤' as const, valor: 10, absoluta: true },
        },
      ],
      notas: [con.nota('con validación'), sin.nota('sin validación')],
    }
  })

export const validacion: Medida[] = [
  { clave: 'validacion', descripcion: 'parte de la creación que cuesta la validación por contrato', medir },
]
