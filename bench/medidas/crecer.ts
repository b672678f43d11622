import { codigoSembrado, nuevaGuia, sembrar } from '../arnes/datos.ts'
import type { Banco, Base, ComercioDeBench } from '../arnes/entorno.ts'
import type { FilaDeInforme, Medida } from '../arnes/informe.ts'
import { miles } from '../arnes/numero.ts'
import { intercalar, razones, type Serie } from '../arnes/rondas.ts'
import { type Case, measureCase, type Side } from '../arnes/sides.ts'
import { analizar, fila } from './crear.ts'

/** Guides in the reference table, and in the growing one. */
const PEQUENA = 100_000
const TAMANOS = [300_000, 1_000_000, 3_000_000, 10_000_000]
/** Events per guide, from accepted to delivered. */
const EVENTOS = 6
const CONEXIONES = 32
/** Distinct guides and pages of each kind of read, so that no page of the table stays in every cache. */
const VARIANTES = 500

/** Running service over a merchant's guides and their events, with the paths of each kind of read. */
interface Lado extends Side {
  base: Base
  comercio: ComercioDeBench
  rutas: Readonly<Record<string, readonly string[]>>
}

/** Returns the paths of each kind of read, at random positions of the whole table. */
async function rutasDe({ db }: Base, guias: number): Promise<Lado['rutas']> {
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
  return { base, comercio, service: await base.servicio(), processes: {} }
}

const lectura = (name: string): Case<Lado> => ({
  name,
  connections: 1,
  status: 200,
  next({ rutas, comercio }) {
    const suyas = rutas[name]!
    return { metodo: 'GET', ruta: suyas[Math.floor(Math.random() * suyas.length)]!, llave: comercio.llave }
  },
})
const creacion: Case<Lado> = {
  name: `una creación de las de ${CONEXIONES} conexiones`,
  connections: CONEXIONES,
  status: 201,
  next: ({ comercio }) => ({ metodo: 'POST', ruta: '/api/v1/guias', llave: comercio.llave, cuerpo: nuevaGuia() }),
}

/** Compares the reads and creations of the growing table with those of the small one, in turns. */
async function comparar({ opciones }: Banco, fijo: Lado, crecido: Lado, guias: number): Promise<FilaDeInforme[]> {
  const { rondas, segundos } = opciones
  const filas: FilaDeInforme[] = []
  for (const caso of [...Object.keys(fijo.rutas).map(lectura), creacion]) {
    for (const lado of [fijo, crecido]) {
      await measureCase(lado, caso, segundos)
      if (caso === creacion) await analizar(lado.base.url)
    }
    const ms = async (lado: Lado) => 1_000 / (await measureCase(lado, caso, segundos)).rate
    const valores = await intercalar(rondas, { programa: () => ms(crecido), referencia: () => ms(fijo) })
    const marca = { sentido: '≤' as const, valor: 1.2 }
    filas.push(fila(`${caso.name}, de ${miles(guias)} guías`, 'ms', miles(PEQUENA), valores, marca))
  }
  return filas
}

const medir = (banco: Banco) =>
  banco.conBase((pequena) =>
    banco.conBase(async (grande) => {
      const fijo = { ...(await abrir(pequena)), rutas: await rutasDe(pequena, PEQUENA) }
      const crecido = await abrir(grande)
      const filas: FilaDeInforme[] = []
      const curvas = new Map<string, { x: number; y: Serie }[]>()
      let sembradas = PEQUENA
      for (const guias of TAMANOS.filter((tamano) => tamano <= banco.opciones.guias)) {
        await sembrar(grande.url, { comercio: crecido.comercio, desde: sembradas + 1, hasta: guias, eventos: EVENTOS })
        sembradas = guias
        const suyas = await comparar(banco, fijo, { ...crecido, rutas: await rutasDe(grande, guias) }, guias)
        for (const { medida, razon } of suyas) {
          const [nombre = ''] = medida.split(', de ')
          curvas.set(nombre, [...(curvas.get(nombre) ?? []), { x: guias, y: razon! }])
        }
        filas.push(...suyas)
      }
      const comienzo = { x: PEQUENA, y: razones([1], [1]) }
      const grafica = {
        titulo: `Cuánto más que con ${miles(PEQUENA)} guías, de ${EVENTOS} eventos cada una`,
        ejeX: 'guías',
        ejeY: 'veces',
        logaritmica: true,
        lineas: [...curvas].map(([nombre, puntos]) => ({ nombre, puntos: [comienzo, ...puntos] })),
      }
      return { filas, graficas: [{ nombre: 'crecer', grafica }] }
    }),
  )

export const crecer: Medida[] = [
  {
    clave: 'crecer',
    descripcion: `creación, detalle, páginas y flujo mientras la tabla crece hasta --guias, contra una de ${miles(PEQUENA)}`,
    aparte: () => true,
    medir,
  },
]
