import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { type ResultadoDeCarga as Cargada, cargar, type ParametrosDeCarga, type Peticion } from '../arnes/carga.ts'
import { guionDeCrear, nuevaGuia } from '../arnes/datos.ts'
import type { Banco, Base, ComercioDeBench, Programa } from '../arnes/entorno.ts'
import type { FilaDeInforme, Marca, ResultadoDeMedida } from '../arnes/informe.ts'
import { formatearNumero } from '../arnes/numero.ts'
import { correrPgbench } from '../arnes/pgbench.ts'
import { cpuConHijos, cpuDe } from '../arnes/proceso.ts'
import { intercalar, razones, resumir } from '../arnes/rondas.ts'
import type { Medida } from './medida.ts'

/** Returns a load that creates guides. Connection n uses the key of merchant n, modulo the number of merchants. */
export const cargaDeCrear = (
  url: string,
  comercios: readonly ComercioDeBench[],
  conexiones: number,
  segundos: number,
  cambiar: (guia: string) => Pick<Peticion, 'cuerpo' | 'cabeceras'> = (cuerpo) => ({ cuerpo }),
): ParametrosDeCarga => ({
  url,
  conexiones,
  segundos,
  espera: 201,
  siguiente: (conexion) => ({
    metodo: 'POST',
    ruta: '/api/v1/guias',
    llave: comercios[conexion % comercios.length]!.llave,
    ...cambiar(nuevaGuia()),
  }),
})

/**
 * Returns a function that runs a load and returns its rate. Records the CPU of each process per request, in
 * microseconds.
 */
export function medidor({ pidDePostgres }: Banco, programa: Programa, carga: ParametrosDeCarga) {
  const cargas: (Cargada & { cpu: Record<'servidor' | 'postgres' | 'generador', number> })[] = []
  const leer = () => ({
    servidor: cpuDe(programa.pid) ?? Number.NaN,
    postgres: cpuConHijos(pidDePostgres) ?? Number.NaN,
    generador: (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
  })
  return {
    cargas,
    async medir(): Promise<number> {
      const antes = leer()
      const cargada = await cargar(carga)
      const despues = leer()
      const por = (parte: keyof typeof antes) => ((despues[parte] - antes[parte]) / cargada.total) * 1e6
      cargas.push({
        ...cargada,
        cpu: { servidor: por('servidor'), postgres: por('postgres'), generador: por('generador') },
      })
      return cargada.porSegundo
    },
    nota(nombre: string): string {
      const mediana = (de: (una: (typeof cargas)[number]) => number) => formatearNumero(resumir(cargas.map(de)).mediana)
      return (
        `${nombre}: p50 ${mediana(({ p50 }) => p50)} ms, p99 ${mediana(({ p99 }) => p99)} ms; CPU por solicitud: servidor ` +
        `${mediana(({ cpu }) => cpu.servidor)} µs, PostgreSQL ${mediana(({ cpu }) => cpu.postgres)} µs, generador ${mediana(({ cpu }) => cpu.generador)} µs`
      )
    },
  }
}

/**
 * Warms a program up, so that both sides run compiled code and prepared statements. Then runs ANALYZE, as autovacuum
 * does within a minute. Without statistics, PostgreSQL may check foreign keys through an index that scans all guides of
 * the merchant.
 */
export async function calentar(banco: Banco, { url }: Base, carga: ParametrosDeCarga): Promise<void> {
  await cargar({ ...carga, segundos: 2 * banco.opciones.segundos })
  await analizar(url)
}

/** Runs ANALYZE on a separate connection, because the service's connections have a statement timeout. */
export async function analizar(url: string): Promise<void> {
  const cliente = new pg.Client(url)
  await cliente.connect()
  await cliente.query('analyze').finally(() => cliente.end())
}

interface Caso {
  medida: string
  conexiones: number
  comercios: number
  marca: Marca
}

const contraPgbench = (caso: Caso) => (banco: Banco) =>
  banco.conBase(async (base) => {
    const comercios = await base.crearComercios(caso.comercios)
    const { segundos } = banco.opciones
    const guion = guionDeCrear(comercios)
    return comparar(banco, base, caso, comercios, 'pgbench', {
      medir: () => correrPgbench({ url: base.url, carpeta: banco.carpeta, guion, clientes: caso.conexiones, segundos }),
    })
  })

const contraFastify = (caso: Caso) => (banco: Banco) =>
  banco.conBase(async (base) => {
    const comercios = await base.crearComercios(caso.comercios)
    const par = await base.programa('fastify.ts')
    const carga = cargaDeCrear(par.url, comercios, caso.conexiones, banco.opciones.segundos)
    await calentar(banco, base, carga)
    return comparar(banco, base, caso, comercios, 'Fastify + pg', medidor(banco, par, carga))
  })

async function comparar(
  banco: Banco,
  base: Base,
  { medida, conexiones, marca }: Caso,
  comercios: readonly ComercioDeBench[],
  nombre: string,
  referencia: { medir: () => Promise<number>; nota?: (nombre: string) => string },
): Promise<ResultadoDeMedida> {
  const servicio = await base.servicio()
  const carga = cargaDeCrear(servicio.url, comercios, conexiones, banco.opciones.segundos)
  await calentar(banco, base, carga)
  const programa = medidor(banco, servicio, carga)
  const hay = banco.pgbench || nombre !== 'pgbench'
  const valores = await intercalar(banco.opciones.rondas, {
    programa: programa.medir,
    referencia: hay ? referencia.medir : undefined,
  })
  return {
    filas: [fila(medida, 'guías/s', nombre, valores, marca)],
    notas: [programa.nota('servicio'), ...(referencia.nota ? [referencia.nota(nombre)] : [])],
  }
}

/** Returns the report row of a comparison, or of the service alone if the reference has no values. */
export function fila(
  medida: string,
  unidad: string,
  nombre: string,
  valores: { programa: number[]; referencia: number[] },
  marca?: Marca,
): FilaDeInforme {
  const { programa, referencia } = valores
  return {
    medida,
    unidad,
    programa: resumir(programa),
    ...(referencia.length > 0
      ? { referencia: { nombre, serie: resumir(referencia) }, razon: razones(programa, referencia) }
      : {}),
    ...(marca ? { marca } : {}),
  }
}

/** Compares creations with an idempotency key with creations that have neither a key nor a reference. */
const conLlave = (conexiones: number) => (banco: Banco) =>
  banco.conBase(async (base) => {
    const comercios = await base.crearComercios(1)
    const servicio = await base.servicio()
    const sinReferencia = (guia: string) => guia.replace(/,"external_ref":"[^"]*"/, '')
    const carga = (cambiar: (guia: string) => Pick<Peticion, 'cuerpo' | 'cabeceras'>) =>
      cargaDeCrear(servicio.url, comercios, conexiones, banco.opciones.segundos, cambiar)
    const cargas = {
      con: carga((guia) => ({
        cuerpo: sinReferencia(guia),
        cabeceras: { 'Idempotency-Key': randomUUID() },
      })),
      sin: carga((guia) => ({ cuerpo: sinReferencia(guia) })),
    }
    for (const una of Object.values(cargas)) await calentar(banco, base, una)
    const [con, sin] = [medidor(banco, servicio, cargas.con), medidor(banco, servicio, cargas.sin)]
    const valores = await intercalar(banco.opciones.rondas, { programa: con.medir, referencia: sin.medir })
    const medida = `crear con llave de idempotencia, ${conexiones} ${conexiones === 1 ? 'conexión' : 'conexiones'}`
    return {
      filas: [fila(medida, 'guías/s', 'sin llave ni referencia', valores)],
      notas: [con.nota('con llave'), sin.nota('sin llave')],
    }
  })

export const medidasDeCrear: Medida[] = [
  {
    clave: 'crear32',
    descripcion: 'crear, 32 conexiones, un comercio, contra pgbench',
    medir: contraPgbench({
      medida: 'crear, 32 conexiones, 1 comercio',
      conexiones: 32,
      comercios: 1,
      marca: { sentido: '≥', valor: 1.3 },
    }),
  },
  {
    clave: 'comercios32',
    descripcion: 'crear, 32 conexiones, 32 comercios, contra pgbench',
    medir: contraPgbench({
      medida: 'crear, 32 conexiones, 32 comercios',
      conexiones: 32,
      comercios: 32,
      marca: { sentido: '≥', valor: 1.1 },
    }),
  },
  {
    clave: 'fastify32',
    descripcion: 'crear, 32 conexiones, contra Fastify + pg',
    medir: contraFastify({
      medida: 'crear, 32 conexiones, 1 comercio',
      conexiones: 32,
      comercios: 1,
      marca: { sentido: '≥', valor: 1.8 },
    }),
  },
  {
    clave: 'fastify1',
    descripcion: 'crear, 1 conexión, contra Fastify + pg',
    medir: contraFastify({
      medida: 'crear, 1 conexión',
      conexiones: 1,
      comercios: 1,
      marca: { sentido: '≥', valor: 0.9 },
    }),
  },
  {
    clave: 'llave32',
    descripcion: 'crear con llave de idempotencia, 32 conexiones, contra sin llave',
    medir: conLlave(32),
  },
  {
    clave: 'llave1',
    descripcion: 'crear con llave de idempotencia, 1 conexión, contra sin llave',
    medir: conLlave(1),
  },
]
