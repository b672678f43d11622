import { abrirEnchufe, cargar, type Enchufe } from '../arnes/carga.ts'
import { codigoSembrado, sembrar } from '../arnes/datos.ts'
import type { Banco, Base, ComercioDeBench, Programa } from '../arnes/entorno.ts'
import type { FilaDeInforme } from '../arnes/informe.ts'
import { miles } from '../arnes/numero.ts'
import { intercalar, razones, resumir } from '../arnes/rondas.ts'
import { calentar, cargaDeCrear, fila } from './crear.ts'
import type { Medida } from './medida.ts'

/** Guides in the reference table. */
const PEQUENA = 100_000
/** Events per guide, from accepted to delivered. */
export const EVENTOS = 6
const CONEXIONES = 32
/** Reads per second of the option `--segundos`, for each kind of read, side and round. */
const LECTURAS_POR_SEGUNDO = 50
/** Distinct guides and pages of each kind of read, so that no page of the table stays in every cache. */
const VARIANTES = 500

/** Running service over a merchant's guides and their events, with the paths of each kind of read. */
export interface Lado {
  programa: Programa
  base: Base
  comercio: ComercioDeBench
  rutas: Record<string, readonly string[]>
}

/** Returns the paths of each kind of read, at random positions of the whole table. */
export async function rutasDe({ db }: Base, guias: number): Promise<Lado['rutas']> {
  const azar = Array.from({ length: VARIANTES }, () => 1 + Math.floor(Math.random() * guias))
  const { rows } = await db.pool.query<{ guia: string; en: Date }>(
    `select g.guia, g.creado_en as en from unnest($1::bigint[]) n join guia_indice i on i.guia = ${codigoSembrado('n')}
     join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id`,
    [azar],
  )
  const instantes = rows.map(({ en }) => encodeURIComponent(en.toISOString()))
  return {
    'detalle de una guía': rows.map(({ guia }) => `/api/v1/guias/${guia}`),
    'página de 50 guías, la primera': ['/api/v1/guias?limite=50'],
    'página de 50 guías de antes de un instante': instantes.map((en) => `/api/v1/guias?limite=50&creado_hasta=${en}`),
    'página de 50 guías de un estado raro': ['/api/v1/guias?limite=50&estado=devuelto'],
    'página de 50 eventos del flujo': ['/api/v1/eventos?limite=50'],
    'página de 50 eventos desde un instante': instantes.map((en) => `/api/v1/eventos?limite=50&desde=${en}`),
  }
}

async function abrir(base: Base): Promise<Omit<Lado, 'rutas'>> {
  const [comercio] = (await base.crearComercios(1)) as [ComercioDeBench]
  await sembrar(base.url, { comercio, hasta: PEQUENA, eventos: EVENTOS })
  const programa = await base.servicio()
  return { base, comercio, programa }
}

/**
 * Runs one read and returns its milliseconds.
 * @throws if the status is not 200
 */
async function leer(enchufe: Enchufe, { comercio }: Lado, ruta: string): Promise<number> {
  const inicio = performance.now()
  const { status, cuerpo } = await enchufe.pedir({ metodo: 'GET', ruta, llave: comercio.llave })
  if (status !== 200) throw new Error(`GET ${ruta}: ${status} ${cuerpo().slice(0, 1000)}`)
  return performance.now() - inicio
}

/**
 * Runs one round of reads, alternating between both sides.
 * @returns the median of each kind of read and side, in milliseconds
 */
async function ronda(lados: readonly [Lado, Lado], vueltas: number): Promise<Map<string, [number, number]>> {
  const medianas = new Map<string, [number, number]>()
  const enchufes = lados.map(({ programa }) => abrirEnchufe(programa.url))
  for (const nombre of Object.keys(lados[0].rutas)) {
    const tiempos: [number[], number[]] = [[], []]
    for (let vuelta = 0; vuelta < vueltas; vuelta++) {
      for (const i of vuelta % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const suyas = lados[i].rutas[nombre]!
        tiempos[i].push(await leer(enchufes[i]!, lados[i], suyas[vuelta % suyas.length]!))
      }
    }
    medianas.set(nombre, [resumir(tiempos[0]).mediana, resumir(tiempos[1]).mediana])
  }
  for (const enchufe of enchufes) enchufe.cerrar()
  return medianas
}

/**
 * Compares the reads and creations of one side with those of another.
 * @param lados the reference, and the side to compare with it
 */
export async function comparar(
  banco: Banco,
  lados: readonly [Lado, Lado],
  { de, referencia }: { de: string; referencia: string },
): Promise<FilaDeInforme[]> {
  const { rondas, segundos } = banco.opciones
  const vueltas = segundos * LECTURAS_POR_SEGUNDO
  await ronda(lados, vueltas)
  const medidas: Map<string, [number, number]>[] = []
  for (let n = 0; n < rondas; n++) medidas.push(await ronda(lados, vueltas))
  const marca = { sentido: '≤' as const, valor: 1.2 }
  const filas = [...medidas[0]!.keys()].map((nombre) => {
    const lado = (i: 0 | 1) => medidas.map((ronda) => ronda.get(nombre)![i])
    const valores = { programa: lado(1), referencia: lado(0) }
    return fila(`${nombre}, ${de}`, 'ms', referencia, valores, marca)
  })
  const cargas = lados.map(({ programa, comercio }) => cargaDeCrear(programa.url, [comercio], CONEXIONES, segundos))
  for (const [i, carga] of cargas.entries()) await calentar(banco, lados[i]!.base, carga)
  const porGuia = (carga: (typeof cargas)[number]) => async () => 1_000 / (await cargar(carga)).porSegundo
  const valores = await intercalar(rondas, { programa: porGuia(cargas[1]!), referencia: porGuia(cargas[0]!) })
  filas.push(fila(`una creación de las de ${CONEXIONES} conexiones, ${de}`, 'ms', referencia, valores, marca))
  return filas
}

const crecerA = (banco: Banco, tamanos: readonly number[]) =>
  banco.conBase((pequena) =>
    banco.conBase(async (grande) => {
      const fijo = { ...(await abrir(pequena)), rutas: await rutasDe(pequena, PEQUENA) }
      const crecido = await abrir(grande)
      const filas: FilaDeInforme[] = []
      const curvas = new Map<string, { x: number; y: ReturnType<typeof resumir> }[]>()
      let sembradas = PEQUENA
      for (const guias of tamanos) {
        await sembrar(grande.url, { comercio: crecido.comercio, desde: sembradas + 1, hasta: guias, eventos: EVENTOS })
        sembradas = guias
        const lados = [fijo, { ...crecido, rutas: await rutasDe(grande, guias) }] as const
        const suyas = await comparar(banco, lados, { de: `de ${miles(guias)} guías`, referencia: miles(PEQUENA) })
        for (const { medida, razon } of suyas) {
          const [nombre = ''] = medida.split(', de ')
          curvas.set(nombre, [...(curvas.get(nombre) ?? []), { x: guias, y: razon! }])
        }
        filas.push(...suyas)
      }
      const comienzo = { x: PEQUENA, y: razones([1], [1]) }
      return {
        filas,
        graficas: [
          {
            nombre: 'crecer',
            grafica: {
              titulo: `Cuánto más que con ${miles(PEQUENA)} guías, de ${EVENTOS} eventos cada una`,
              ejeX: 'guías',
              ejeY: 'veces',
              logaritmica: true,
              lineas: [...curvas].map(([nombre, puntos]) => ({ nombre, puntos: [comienzo, ...puntos] })),
            },
          },
        ],
      }
    }),
  )

export const crecer: Medida[] = [
  {
    clave: 'crecer',
    descripcion: `creación, detalle, páginas y flujo mientras la tabla crece hasta --guias, contra una de ${miles(PEQUENA)}`,
    aparte: () => true,
    medir: (banco) =>
      crecerA(
        banco,
        [300_000, 1_000_000, 3_000_000, 10_000_000].filter((guias) => guias <= banco.opciones.guias),
      ),
  },
]
