import { createCursors } from '../../server/api/lists/cursor.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { abrirEnchufe, cargar, type Enchufe } from '../arnes/carga.ts'
import { ESTADOS_RAROS, guiasAlAzar, guionDeDetalle, sembrar, sembrarEntregasHechas } from '../arnes/datos.ts'
import type { Banco, Base, ComercioDeBench, Programa } from '../arnes/entorno.ts'
import type { Medida } from '../arnes/informe.ts'
import { miles } from '../arnes/numero.ts'
import { correrPgbench } from '../arnes/pgbench.ts'
import { intercalar, resumir } from '../arnes/rondas.ts'
import { fila, medidor } from './crear.ts'

/** Guides per page. */
export const PAGINA = 50
const PROFUNDIDADES = [0, 1e3, 1e4, 1e5, 5e5, 1e6]
/** Distinct pages of each depth, so that no page stays in every cache. */
const VARIANTES = 20
/** Page reads per second of the option `--segundos`, at each depth and round. */
const LECTURAS_POR_SEGUNDO = 50

const [RARO] = ESTADOS_RAROS

interface Lugar {
  nombre: string
  comercio: ComercioDeBench
  /** Position of the page: listed guides that are newer than its first guide. */
  profundidad: number
  /** States of the filter, in alphabetical order as the cursor requires. */
  estados?: readonly string[]
}

/**
 * Returns the paths of the pages. Encrypts cursors as the service does, because paging to a deep page takes too long.
 */
async function rutasDe(banco: Banco, { db }: Base, { comercio, profundidad, estados }: Lugar): Promise<string[]> {
  const inicio = `/api/v1/guias?limite=${PAGINA}${(estados ?? []).map((estado) => `&estado=${estado}`).join('')}`
  if (profundidad === 0) return [inicio]
  const cursores = createCursors(createSecrets(banco.masterKeys))
  const ambito = {
    operacion: 'listarGuias',
    dueno: `${comercio.id}:${comercio.modo}`,
    filtros: { comercioId: comercio.id, modo: comercio.modo, ...(estados ? { estado: estados } : {}) },
  }
  const { rows } = await db.pool.query<{ id: string }>(
    `select id from (select id, row_number() over (order by id desc) as n from guia where comercio_id = $1 and modo = $2
     and ($3::text[] is null or estado = any($3))) x where n = any($4) order by id`,
    [
      comercio.id,
      comercio.modo,
      estados ?? null,
      Array.from({ length: VARIANTES }, (_, i) => profundidad - i * PAGINA).filter((n) => n > 0),
    ],
  )
  return rows.map(({ id }) => `${inicio}&cursor=${cursores.cifrar(ambito, [id])}`)
}

/** Requests a path and returns the milliseconds until its answer. */
export async function leer(enchufe: Enchufe, llave: string, ruta: string): Promise<number> {
  const inicio = performance.now()
  const { status, cuerpo } = await enchufe.pedir({ metodo: 'GET', ruta, llave })
  const ms = performance.now() - inicio
  if (status !== 200) throw new Error(`GET ${ruta}: ${status} ${cuerpo().slice(0, 1000)}`)
  return ms
}

const paginas = (banco: Banco) =>
  banco.conBase(async (base) => {
    const { rondas, segundos, guias } = banco.opciones
    const [comercio, pequeno] = (await base.crearComercios(2)) as [ComercioDeBench, ComercioDeBench]
    await sembrar(base.url, { comercio: pequeno, hasta: 2 * PAGINA })
    await sembrar(base.url, { comercio, hasta: guias })
    // A cursor at this depth still has one full page of guides after it.
    const tope = guias - PAGINA
    const profundidades = [...PROFUNDIDADES.filter((n) => n < tope), tope]
    const raras = Math.floor(guias / Math.max(1, Math.floor(guias / 200)))
    const lugares: Lugar[] = [
      ...profundidades.map((profundidad) => ({
        nombre: `página de ${PAGINA} tras ${miles(profundidad)} guías`,
        comercio,
        profundidad,
      })),
      { nombre: 'de un estado raro, la primera', comercio, profundidad: 0, estados: [RARO] },
      { nombre: 'de un estado raro, la última', comercio, profundidad: raras - PAGINA, estados: [RARO] },
      { nombre: 'de dos estados raros, la última', comercio, profundidad: 2 * raras - PAGINA, estados: ESTADOS_RAROS },
      { nombre: 'de un estado común, la última', comercio, profundidad: tope - 2 * raras, estados: ['aceptado'] },
      // The guides of this merchant are older than nearly all guides of the other merchant.
      { nombre: `de un comercio de ${2 * PAGINA} guías, la primera`, comercio: pequeno, profundidad: 0 },
    ]
    const rutas = await Promise.all(lugares.map((lugar) => rutasDe(banco, base, lugar)))
    const { url } = await base.servicio()
    const enchufe = abrirEnchufe(url)
    // Depths alternate page by page, so that a slow moment of the machine affects all depths.
    const ronda = async (vueltas: number) => {
      const tiempos = lugares.map(() => [] as number[])
      for (let vuelta = 0; vuelta < vueltas; vuelta++) {
        for (const [i, suyas] of rutas.entries())
          tiempos[i]!.push(await leer(enchufe, lugares[i]!.comercio.llave, suyas[vuelta % suyas.length]!))
      }
      return tiempos.map((de) => resumir(de).mediana)
    }
    await ronda(VARIANTES * 3)
    const medianas: number[][] = []
    for (let n = 0; n < rondas; n++) medianas.push(await ronda(segundos * LECTURAS_POR_SEGUNDO))
    enchufe.cerrar()

    const de = (i: number) => medianas.map((ronda) => ronda[i]!)
    const primera = { programa: de(0), referencia: [] }
    return {
      filas: lugares.map(({ nombre }, i) =>
        i === 0
          ? fila(`${nombre} (la primera)`, 'ms', '', primera)
          : fila(nombre, 'ms', 'la primera', { programa: de(i), referencia: de(0) }, { sentido: '≤', valor: 1.2 }),
      ),
      graficas: [
        {
          nombre: 'paginas',
          grafica: {
            titulo: `Una página de ${PAGINA} de ${miles(guias)} guías`,
            ejeX: 'profundidad (guías antes de la página)',
            ejeY: 'ms',
            logaritmica: true,
            lineas: [{ nombre: 'servicio', puntos: profundidades.map((x, i) => ({ x, y: resumir(de(i)) })) }],
          },
        },
      ],
    }
  })

/** Paths of a read under load. `guion` is the pgbench script that reads the same rows, if pgbench is the reference. */
interface Lectura {
  medida: string
  rutas: readonly string[]
  guion?: string
}

/**
 * Measures a read under load, against pgbench with the same rows. Without a script, the reference is the bare server of
 * `bench/minimo.ts`.
 * @param valor minimum ratio to the reference
 */
const contraReferencia =
  (valor: number, preparar: (base: Base, comercio: ComercioDeBench, guias: number) => Promise<Lectura>) =>
  (banco: Banco) =>
    banco.conBase(async (base) => {
      const { rondas, segundos } = banco.opciones
      const guias = Math.min(banco.opciones.guias, 100_000)
      const conexiones = 32
      const [comercio] = (await base.crearComercios(1)) as [ComercioDeBench]
      await sembrar(base.url, { comercio, hasta: guias, eventos: 2 })
      const { medida, rutas, guion } = await preparar(base, comercio, guias)
      const cargaDe = ({ url }: Programa) => {
        let n = 0
        return {
          url,
          conexiones,
          segundos,
          espera: 200,
          siguiente: () => ({ metodo: 'GET' as const, ruta: rutas[++n % rutas.length]!, llave: comercio.llave }),
        }
      }
      const preparado = async (programa: Programa) => {
        const carga = cargaDe(programa)
        await cargar({ ...carga, segundos: 2 * segundos })
        return medidor(banco, programa, carga)
      }
      const servicio = await preparado(await base.servicio())
      const minimo = guion === undefined ? await preparado(await base.programa('minimo.ts', [comercio.id])) : undefined
      const dePgbench =
        banco.pgbench && guion !== undefined
          ? () => correrPgbench({ url: base.url, carpeta: banco.carpeta, guion, clientes: conexiones, segundos })
          : undefined
      const valores = await intercalar(rondas, { programa: servicio.medir, referencia: minimo?.medir ?? dePgbench })
      const nombre = minimo ? 'servidor mínimo' : 'pgbench'
      return {
        filas: [fila(medida, 'lecturas/s', nombre, valores, { sentido: '≥', valor })],
        notas: [servicio.nota('servicio'), ...(minimo ? [minimo.nota(nombre)] : [])],
      }
    })

const detalle = contraReferencia(0.4, async ({ db }, comercio, guias) => {
  const leidas = await guiasAlAzar(db, 20_000)
  return {
    medida: `detalle de una de ${miles(guias)} guías, 32 conexiones`,
    rutas: leidas.map((guia) => `/api/v1/guias/${guia}`),
    guion: guionDeDetalle(comercio, guias),
  }
})

const eventos = contraReferencia(0.6, async () => ({
  medida: `página de ${PAGINA} del flujo de eventos, 32 conexiones`,
  rutas: [`/api/v1/eventos?limite=${PAGINA}`],
}))

const entregas = contraReferencia(0.6, async ({ url }, comercio, guias) => {
  const webhook = await sembrarEntregasHechas(url, comercio, Math.min(guias, 20_000))
  return {
    medida: `página de ${PAGINA} de las entregas de un webhook, 32 conexiones`,
    rutas: [`/api/v1/webhooks/${webhook}/avisos?limite=${PAGINA}`],
  }
})

export const lectura: Medida[] = [
  {
    clave: 'paginas',
    descripcion: 'páginas de 50 a cada profundidad de la tabla grande, contra la primera',
    medir: paginas,
  },
  { clave: 'detalle', descripcion: 'detalle de una guía, contra pgbench con las mismas dos lecturas', medir: detalle },
  {
    clave: 'eventos',
    descripcion: 'página del flujo de eventos, contra un servidor mínimo con las mismas filas',
    medir: eventos,
  },
  {
    clave: 'entregas',
    descripcion: 'página de las entregas de un webhook, contra un servidor mínimo con las mismas filas',
    medir: entregas,
  },
]
