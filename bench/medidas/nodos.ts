import { isDistributed } from '../../server/data/db.ts'
import { nuevaGuia, nuevoLote } from '../arnes/datos.ts'
import type { Banco, Base, ComercioDeBench } from '../arnes/entorno.ts'
import type { FilaDeInforme, Marca, Medida } from '../arnes/informe.ts'
import { ErrorDeOpciones } from '../arnes/opciones.ts'
import { intercalar, razones, resumir } from '../arnes/rondas.ts'
import { type Case, type Figures, measureCase, type Side } from '../arnes/sides.ts'
import { analizar } from './crear.ts'
import { GUIAS } from './lote.ts'

const COMERCIOS = 8
/** Seconds of warm-up for each kind of request: a session may keep a generic plan from the sixth execution on. */
const CALENTAMIENTO = 4

/** Running service over a database, with the postmasters behind it. A single PostgreSQL counts as a worker. */
interface Lado extends Side {
  base: Base
  comercios: readonly ComercioDeBench[]
}

const POSTMASTER = "select (regexp_split_to_array(pg_read_file('postmaster.pid'), '\n'))[1]::int as pid"

async function abrirLado(base: Base): Promise<Lado> {
  const comercios = await base.crearComercios(COMERCIOS)
  const service = await base.servicio()
  const { rows } = await base.db.pool.query<{ pid: number; coordina: boolean }>(
    isDistributed(base.db)
      ? `select result::int as pid, groupid = 0 as coordina
         from run_command_on_all_nodes($$${POSTMASTER}$$) join pg_dist_node using (nodeid)`
      : `select pid, false as coordina from (${POSTMASTER}) p`,
  )
  const de = (coordina: boolean) => rows.filter((una) => una.coordina === coordina).map(({ pid }) => pid)
  return { base, comercios, service, processes: { servicio: [service.pid], coordinador: de(true), workers: de(false) } }
}

const deLaBase = ({ cpu }: Figures) => cpu.coordinador! + cpu.workers!

/** Measures a case on both sides in turns, and the CPU of each process. */
async function comparar(
  { opciones }: Banco,
  cluster: Lado,
  uno: Lado,
  caso: Case<Lado>,
  marca: Marca,
): Promise<FilaDeInforme[]> {
  for (const lado of [cluster, uno]) {
    await measureCase(lado, caso, CALENTAMIENTO)
    await analizar(lado.base.url)
  }
  const { programa, referencia } = await intercalar(opciones.rondas, {
    programa: () => measureCase(cluster, caso, opciones.segundos),
    referencia: () => measureCase(uno, caso, opciones.segundos),
  })
  const en = (que: string, cifra: (una: Figures) => number, mas: Partial<FilaDeInforme> = {}): FilaDeInforme => ({
    medida: `${caso.name}: CPU ${que}`,
    unidad: 'µs',
    programa: resumir(programa.map(cifra)),
    ...mas,
  })
  const contraUno = (cifra: (una: Figures) => number) => ({
    referencia: { nombre: 'un PostgreSQL', serie: resumir(referencia.map(cifra)) },
    razon: razones(programa.map(cifra), referencia.map(cifra)),
  })
  const parte = (nombre: string) => (una: Figures) => una.cpu[nombre]!
  return [
    en('de la base', deLaBase, { ...contraUno(deLaBase), marca }),
    en('del coordinador', parte('coordinador'), { marca: { sentido: '≤', valor: 20, absoluta: true } }),
    en('de los workers', parte('workers')),
    en('del servicio', parte('servicio'), contraUno(parte('servicio'))),
  ]
}

const deComercio = ({ comercios }: Lado, conexion: number) => comercios[conexion % comercios.length]!.llave

const creaciones = (connections: number): Case<Lado> => ({
  name: `una guía, ${connections} conexiones`,
  connections,
  status: 201,
  next: (lado, n) => ({ metodo: 'POST', ruta: '/api/v1/guias', llave: deComercio(lado, n), cuerpo: nuevaGuia() }),
})

const lotes: Case<Lado> = {
  name: `una guía de un lote de ${GUIAS}, 8 conexiones`,
  connections: 8,
  status: 200,
  items: GUIAS,
  next: (lado, n) => ({
    metodo: 'POST',
    ruta: '/api/v1/guias/bulk',
    cuerpo: nuevoLote(GUIAS),
    llave: deComercio(lado, n),
  }),
}

/** Returns a case that reads the detail of existing guides, each with the key of its merchant. */
async function detalles(lados: readonly Lado[]): Promise<Case<Lado>> {
  const sql = 'select guia, comercio_id from guia_indice order by random() limit 5000'
  const suyas = new Map<Lado, readonly { guia: string; comercio_id: string }[]>()
  for (const lado of lados) suyas.set(lado, (await lado.base.db.pool.query(sql)).rows)
  return {
    name: 'un detalle, 16 conexiones',
    connections: 16,
    status: 200,
    next(lado) {
      const guias = suyas.get(lado)!
      const { guia, comercio_id } = guias[Math.floor(Math.random() * guias.length)]!
      const { llave } = lado.comercios.find(({ id }) => id === comercio_id)!
      return { metodo: 'GET', ruta: `/api/v1/guias/${guia}`, llave }
    },
  }
}

export const nodos: Medida[] = [
  {
    clave: 'nodos',
    descripcion: 'CPU de cada proceso sobre un clúster (CITUS_URL) y sobre un PostgreSQL (POSTGRES_URL)',
    aparte: () => true,
    medir(banco) {
      const { CITUS_URL, POSTGRES_URL } = process.env
      if (!CITUS_URL || !POSTGRES_URL)
        throw new ErrorDeOpciones(
          'nodos pide CITUS_URL y POSTGRES_URL: una base vacía en un clúster y otra en un solo PostgreSQL de la misma versión, en esta máquina. Las llena y no las borra.',
        )
      return banco.conBaseDe(CITUS_URL, (repartida) =>
        banco.conBaseDe(POSTGRES_URL, async (una) => {
          const [cluster, uno] = [await abrirLado(repartida), await abrirLado(una)]
          const contra = (caso: Case<Lado>, valor: number) =>
            comparar(banco, cluster, uno, caso, { sentido: '≤', valor })
          return {
            filas: [
              ...(await contra(creaciones(16), 1.3)),
              ...(await contra(creaciones(64), 1.6)),
              ...(await contra(lotes, 1.2)),
              ...(await contra(await detalles([cluster, uno]), 2.2)),
            ],
          }
        }),
      )
    },
  },
]
