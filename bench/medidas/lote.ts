import { cargar, type ParametrosDeCarga } from '../arnes/carga.ts'
import { guionDeLote, nuevoLote } from '../arnes/datos.ts'
import type { Banco, Base, ComercioDeBench } from '../arnes/entorno.ts'
import type { FilaDeInforme } from '../arnes/informe.ts'
import { correrPgbench } from '../arnes/pgbench.ts'
import { intercalar } from '../arnes/rondas.ts'
import { calentar, cargaDeCrear, fila } from './crear.ts'
import type { Medida } from './medida.ts'

/** Guides per batch. */
export const GUIAS = 100

/** Returns a load that creates batches of {@link GUIAS} guides and requires that all are created. */
export const cargaDeLotes = (
  url: string,
  comercio: ComercioDeBench,
  conexiones: number,
  segundos: number,
): ParametrosDeCarga => ({
  url,
  conexiones,
  segundos,
  espera: 200,
  siguiente: () => ({ metodo: 'POST', ruta: '/api/v1/guias/bulk', llave: comercio.llave, cuerpo: nuevoLote(GUIAS) }),
  revisar: (cuerpo) => cuerpo.startsWith(`{"ok":true,"creadas":${GUIAS},"repetidas":0,"fallidas":0,`),
})

const guiasPorSegundo = async (carga: ParametrosDeCarga) => (await cargar(carga)).porSegundo * GUIAS

const conServicio = (
  banco: Banco,
  medir: (base: Base, comercio: ComercioDeBench, url: string) => Promise<FilaDeInforme[]>,
) =>
  banco.conBase(async (base) => {
    const [comercio] = await base.crearComercios(1)
    const { url } = await base.servicio()
    await calentar(banco, base, cargaDeLotes(url, comercio!, 8, banco.opciones.segundos))
    return { filas: await medir(base, comercio!, url) }
  })

const contraPgbench = (banco: Banco) =>
  conServicio(banco, async (base, comercio, url) => {
    const { rondas, segundos } = banco.opciones
    const clientes = 8
    const carga = cargaDeLotes(url, comercio, clientes, segundos)
    const corrida = { url: base.url, carpeta: banco.carpeta, ...guionDeLote(comercio, GUIAS), clientes, segundos }
    const valores = await intercalar(rondas, {
      programa: () => guiasPorSegundo(carga),
      referencia: banco.pgbench ? async () => (await correrPgbench(corrida)) * GUIAS : undefined,
    })
    return [fila('lotes de 100, 8 conexiones', 'guías/s', 'pgbench', valores, { sentido: '≥', valor: 0.7 })]
  })

/** Compares batches with the same guides one by one. Only the comparison with one connection has a mark. */
const contraIndividuales = (banco: Banco) =>
  conServicio(banco, async (_base, comercio, url) => {
    const { rondas, segundos } = banco.opciones
    const comparar = async (conexiones: number) => {
      const lotes = cargaDeLotes(url, comercio, conexiones, segundos)
      const individuales = cargaDeCrear(url, [comercio], conexiones, segundos)
      return intercalar(rondas, {
        programa: () => guiasPorSegundo(lotes),
        referencia: async () => (await cargar(individuales)).porSegundo,
      })
    }
    const nombre = 'de una en una'
    return [
      fila('lotes de 100, 1 conexión', 'guías/s', nombre, await comparar(1), { sentido: '≥', valor: 8 }),
      fila('lotes de 100, 8 conexiones', 'guías/s', nombre, await comparar(8)),
    ]
  })

export const medidasDeLote: Medida[] = [
  {
    clave: 'lote',
    descripcion: 'lotes de 100, 8 conexiones, contra pgbench con las 100 filas en una sentencia y un JSON',
    medir: contraPgbench,
  },
  { clave: 'lote100', descripcion: 'lotes de 100 contra las mismas guías de una en una', medir: contraIndividuales },
]
