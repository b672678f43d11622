import type { Banco } from '../arnes/entorno.ts'
import type { Fila } from '../arnes/informe.ts'
import { intercalar, resumir } from '../arnes/rondas.ts'
import { calentar, cargaDeCrear, medidor } from './crear.ts'
import type { Medida } from './medida.ts'

/** Short cells in turns: what the machine does to one it does to its neighbours too. */
const CELDA = 0.5

/**
 * Two views of the same cost: what a stopwatch around express-openapi-validator's middlewares says, which is steady, and
 * the CPU time per creation of the same app with and without them, which moves with how the creations happen to group.
 */
const medir = (banco: Banco) =>
  banco.conBase(async (base) => {
    const { rondas, segundos } = banco.opciones
    const comercios = await base.crearComercios(1)
    const preparar = async (variante: 'con' | 'sin') => {
      const programa = await base.programa('servidor.ts', [variante])
      const carga = cargaDeCrear(programa.url, comercios, 32, CELDA)
      await calentar(banco, base, { ...carga, segundos })
      const leerCronometro = async () => Number(await (await fetch(`${programa.url}/cronometro`)).text())
      await leerCronometro()
      return { ...medidor(banco, programa, carga), leerCronometro }
    }
    const con = await preparar('con')
    const sin = await preparar('sin')
    const cronometro: number[] = []
    const porRonda = Math.ceil(segundos / CELDA)
    await intercalar(rondas * porRonda, {
      con: async () => {
        const porSegundo = await con.medir()
        cronometro.push(await con.leerCronometro())
        return porSegundo
      },
      sin: sin.medir,
    })

    const porRondas = (valores: readonly number[]) =>
      Array.from({ length: rondas }, (_, i) => resumir(valores.slice(i * porRonda, (i + 1) * porRonda)).mediana)
    const node = porRondas(con.cargas.map(({ cpu }) => cpu.servidor))
    const postgres = porRondas(con.cargas.map(({ cpu }) => cpu.postgres))
    const nodeSin = porRondas(sin.cargas.map(({ cpu }) => cpu.servidor))
    const validacion = porRondas(cronometro)
    const filaDe = (medida: string, parte: (ronda: number) => number, marca?: Fila['marca']): Fila => ({
      medida,
      unidad: '%',
      programa: resumir(node.map((_, ronda) => parte(ronda) * 100)),
      ...(marca ? { marca } : {}),
    })
    return {
      filas: [
        filaDe(
          'validación por contrato: parte del tiempo de una creación en el servidor (Node y PostgreSQL)',
          (i) => validacion[i]! / (node[i]! + postgres[i]!),
          { sentido: '≤', valor: 10, absoluta: true },
        ),
        filaDe('validación por contrato: parte del tiempo de Node', (i) => validacion[i]! / node[i]!),
        filaDe('tiempo de Node que ahorra la misma ruta sin validación', (i) => 1 - nodeSin[i]! / node[i]!),
      ],
      notas: [
        `validación: ${resumir(validacion).mediana.toFixed(1)} µs por creación`,
        con.nota('con validación'),
        sin.nota('sin validación'),
      ],
    }
  })

export const validacion: Medida[] = [
  { clave: 'validacion', descripcion: 'parte de la creación que cuesta la validación por contrato', medir },
]
