import type { Banco } from '../arnes/entorno.ts'
import type { FilaDeInforme, Marca } from '../arnes/informe.ts'
import { intercalar, resumir } from '../arnes/rondas.ts'
import { calentar, cargaDeCrear, medidor } from './crear.ts'
import type { Medida } from './medida.ts'

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

    const porRondas = ({ cargas }: typeof con, parte: 'servidor' | 'postgres') =>
      Array.from(
        { length: rondas },
        (_, i) => resumir(cargas.slice(i * porRonda, (i + 1) * porRonda).map(({ cpu }) => cpu[parte])).mediana,
      )
    const [node, sinValidar, postgres] = [
      porRondas(con, 'servidor'),
      porRondas(sin, 'servidor'),
      porRondas(con, 'postgres'),
    ]
    const filaDe = (de: string, total: (ronda: number) => number, marca?: Marca): FilaDeInforme => ({
      medida: `validación por contrato: parte del tiempo de CPU de una creación, ${de}`,
      unidad: '%',
      programa: resumir(node.map((costo, i) => ((costo - sinValidar[i]!) / total(i)) * 100)),
      ...(marca ? { marca } : {}),
    })
    return {
      filas: [
        filaDe('Node y PostgreSQL', (i) => node[i]! + postgres[i]!, { sentido: '≤', valor: 10, absoluta: true }),
        filaDe('solo Node', (i) => node[i]!),
      ],
      notas: [con.nota('con validación'), sin.nota('sin validación')],
    }
  })

export const validacion: Medida[] = [
  { clave: 'validacion', descripcion: 'parte de la creación que cuesta la validación por contrato', medir },
]
