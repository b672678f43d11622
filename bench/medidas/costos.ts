import { guardarOperadorConLlave } from '../../server/domain/operadores/operador.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import type { ParametrosDeCarga } from '../arnes/carga.ts'
import { guiasAlAzar, nuevaGuia, nuevoLote } from '../arnes/datos.ts'
import type { Banco, Base, ComercioDeBench, Programa } from '../arnes/entorno.ts'
import type { FilaDeInforme } from '../arnes/informe.ts'
import { miles } from '../arnes/numero.ts'
import { resumir } from '../arnes/rondas.ts'
import { analizar, medidor } from './crear.ts'
import type { Medida } from './medida.ts'
import { levantarLado } from './webhooks.ts'

const CONEXIONES = 16
const LOTE = 100
const WEBHOOKS = 3_000

interface Caso {
  nombre: string
  /** Counted items per request, for example guides per batch. */
  cuantas: number
  peticion: () => ReturnType<ParametrosDeCarga['siguiente']>
  espera: number
}

/** Reads the current WAL position and the size of the database, both in bytes. */
async function leerDisco({ db }: Base) {
  const { rows } = await db.pool.query<{ wal: number; disco: number }>(
    `select (pg_current_wal_insert_lsn() - '0/0')::float8 as wal, pg_database_size(current_database())::float8 as disco`,
  )
  return rows[0]!
}

const enFila = (medida: string, unidad: string, valores: readonly number[]): FilaDeInforme => ({
  medida,
  unidad,
  programa: resumir(valores),
})

/** Measures the CPU of the service and of PostgreSQL, the WAL and the disk space of one item, in each round. */
async function medirCaso(banco: Banco, base: Base, programa: Programa, caso: Caso): Promise<FilaDeInforme[]> {
  const { rondas, segundos } = banco.opciones
  const { nombre, cuantas, espera } = caso
  const carga: ParametrosDeCarga = {
    url: programa.url,
    conexiones: CONEXIONES,
    segundos,
    espera,
    siguiente: caso.peticion,
  }
  await medidor(banco, programa, carga).medir()
  // After a checkpoint, the first change of a page writes a full page image. The next load writes these images before
  // the measured rounds.
  await base.db.pool.query('checkpoint')
  const uno = medidor(banco, programa, carga)
  await uno.medir()
  const medidas: { servidor: number; postgres: number; wal: number; disco: number }[] = []
  for (let n = 0; n < rondas; n++) {
    const antes = await leerDisco(base)
    await uno.medir()
    const despues = await leerDisco(base)
    const { total, cpu } = uno.cargas.at(-1)!
    medidas.push({
      servidor: cpu.servidor / cuantas,
      postgres: cpu.postgres / cuantas,
      wal: (despues.wal - antes.wal) / total / cuantas,
      disco: (despues.disco - antes.disco) / total / cuantas,
    })
  }
  const de = (parte: keyof (typeof medidas)[number]) => medidas.map((una) => una[parte])
  return [
    enFila(`${nombre}: CPU del servicio`, 'µs', de('servidor')),
    enFila(`${nombre}: CPU de PostgreSQL`, 'µs', de('postgres')),
    ...(espera === 200 && caso.peticion().metodo === 'GET'
      ? []
      : [enFila(`${nombre}: WAL`, 'bytes', de('wal')), enFila(`${nombre}: disco`, 'bytes', de('disco'))]),
  ]
}

const ESTADOS = ['recolectado', 'en_ruta', 'entregado'] as const

/**
 * Returns a case with the state changes of the merchant's guides: all guides are picked up, then sent out, then
 * delivered.
 */
async function eventosDe(base: Base, { id }: ComercioDeBench): Promise<Caso> {
  const nuevoId = createIdGenerator(() => new Date())
  const { llave } = await guardarOperadorConLlave({ db: base.db, nuevoId }, 'Banco')
  const { rows } = await base.db.pool.query<{ guia: string }>('select guia from guia where comercio_id = $1', [id])
  const cambios = ESTADOS.flatMap((estado) => rows.map(({ guia }) => ({ guia, estado })))
  let n = 0
  return {
    nombre: 'un evento del operador',
    cuantas: 1,
    espera: 201,
    peticion() {
      const { guia, estado } = cambios[n++]!
      return {
        metodo: 'POST',
        ruta: `/operaciones/v1/guias/${guia}/eventos`,
        llave,
        cuerpo: JSON.stringify({ estado, ...(estado === 'entregado' ? { forzar: { razon: 'Sin prueba' } } : {}) }),
      }
    },
  }
}

const direccion = () => `10.${[1, 2, 3].map(() => Math.floor(Math.random() * 250)).join('.')}`

function casosDe({ llave }: ComercioDeBench, guias: () => string): Caso[] {
  const leer = (nombre: string, ruta: () => string, cabeceras = () => ({})): Caso => ({
    nombre,
    cuantas: 1,
    espera: 200,
    peticion: () => ({ metodo: 'GET', ruta: ruta(), llave, cabeceras: cabeceras() }),
  })
  const crear = { metodo: 'POST' as const, llave }
  return [
    {
      nombre: 'una guía',
      cuantas: 1,
      espera: 201,
      peticion: () => ({ ...crear, ruta: '/api/v1/guias', cuerpo: nuevaGuia() }),
    },
    {
      nombre: `una guía de un lote de ${LOTE}`,
      cuantas: LOTE,
      espera: 200,
      peticion: () => ({ ...crear, ruta: '/api/v1/guias/bulk', cuerpo: nuevoLote(LOTE) }),
    },
    leer('un detalle', () => `/api/v1/guias/${guias()}`),
    leer('una página de 50 guías', () => '/api/v1/guias?limite=50'),
    leer('una página de 50 eventos', () => '/api/v1/eventos?limite=50'),
    // Each request comes from another network, like those of recipients.
    leer(
      'una página de rastreo',
      () => `/r/${guias()}`,
      () => ({ 'X-Forwarded-For': direccion() }),
    ),
  ]
}

/** Measures the cost of a webhook delivery for the sending process and PostgreSQL, without the cost of the receiver. */
async function deEntregas(banco: Banco, base: Base): Promise<FilaDeInforme[]> {
  const lado = await levantarLado(banco, base, WEBHOOKS)
  const medidas: { suyo: number; postgres: number; porSegundo: number; wal: number; disco: number }[] = []
  for (let n = 0; n < banco.opciones.rondas; n++) {
    const antes = await leerDisco(base)
    const porSegundo = await lado.medir(WEBHOOKS)
    const despues = await leerDisco(base)
    const { suyo, postgres } = lado.costos.at(-1)!
    const por = (parte: 'wal' | 'disco') => (despues[parte] - antes[parte]) / WEBHOOKS
    medidas.push({ suyo, postgres, porSegundo, wal: por('wal'), disco: por('disco') })
  }
  const de = (parte: keyof (typeof medidas)[number]) => medidas.map((una) => una[parte])
  return [
    enFila('una entrega: CPU del proceso que envía', 'µs', de('suyo')),
    enFila('una entrega: CPU de PostgreSQL', 'µs', de('postgres')),
    enFila('una entrega, con su guía y su evento: WAL', 'bytes', de('wal')),
    enFila('una entrega, con su guía y su evento: disco', 'bytes', de('disco')),
    enFila(`${miles(WEBHOOKS)} entregas en cola`, 'por s', de('porSegundo')),
  ]
}

const medir = (banco: Banco) =>
  banco.conBase(async (base) => {
    const [comercio] = (await base.crearComercios(1)) as [ComercioDeBench]
    const programa = await base.servicio({ WORKERS: '0', TRUST_PROXY: '1', WEBHOOKS_LOOPBACK: '0' })
    let guias: string[] = []
    const [crear, lote, ...lecturas] = casosDe(comercio, () => guias[Math.floor(Math.random() * guias.length)]!)
    const filas = [...(await medirCaso(banco, base, programa, crear!))]
    filas.push(...(await medirCaso(banco, base, programa, lote!)))
    await analizar(base.url)
    guias = await guiasAlAzar(base.db, 5_000)
    for (const lectura of lecturas) filas.push(...(await medirCaso(banco, base, programa, lectura)))
    filas.push(...(await medirCaso(banco, base, programa, await eventosDe(base, comercio))))
    await programa.terminar()
    filas.push(...(await deEntregas(banco, base)))
    return { filas }
  })

export const costos: Medida[] = [
  {
    clave: 'costos',
    descripcion: 'lo que cuesta una de cada cosa: CPU, WAL y disco (docs/escala.md)',
    aparte: () => true,
    medir,
  },
]
