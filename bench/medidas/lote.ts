import { cargar, type ParametrosDeCarga } from '../arnes/carga.ts'
import { guionDeLote, nuevoLote } from '../arnes/datos.ts'
import type { Banco, Base, ComercioDeBench } from '../arnes/entorno.ts'
import type { Medida } from '../arnes/informe.ts'
import { correrPgbench } from '../arnes/pgbench.ts'
import { intercalar } from '../arnes/rondas.ts'
import { calentar, cargaDeCrear, fila } from './crear.ts'

/** Guides per batch. */
export const GUIAS = 100

/** Returns a load that creates batches of {@link GUIAS} guides and requires that all are created. */
const cargaDeLotes = (
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

/** Measures batches in turns with a reference, which creates guides in its own way. */
const contra =
  (
    conexiones: number,
    nombre: string,
    valor: number,
    de: (banco: Banco, base: Base, comercio: ComercioDeBench, url: string) => (() => Promise<number>) | undefined,
  ) =>
  (banco: Banco) =>
    banco.conBase(async (base) => {
      const { rondas, segundos } = banco.opciones
      const [comercio] = (await base.crearComercios(1)) as [ComercioDeBench]
      const { url } = await base.servicio()
      await calentar(banco, base, cargaDeLotes(url, comercio, 8, segundos))
      const carga = cargaDeLotes(url, comercio, conexiones, segundos)
      const programa = async () => (await cargar(carga)).porSegundo * GUIAS
      const valores = await intercalar(rondas, { programa, referencia: de(banco, base, comercio, url) })
      const medida = `lotes de ${GUIAS}, ${conexiones} ${conexiones === 1 ? 'conexión' : 'conexiones'}`
      return { filas: [fila(medida, 'guías/s', nombre, valores, { sentido: '≥', valor })] }
    })

export const medidasDeLote: Medida[] = [
  {
    clave: 'lote',
    descripcion: 'lotes de 100, 8 conexiones, contra pgbench con las 100 filas en una sentencia y un JSON',
    medir: contra(8, 'pgbench', 0.7, ({ pgbench, carpeta, opciones: { segundos } }, { url }, comercio) => {
      const corrida = { url, carpeta, ...guionDeLote(comercio, GUIAS), clientes: 8, segundos }
      return pgbench ? async () => (await correrPgbench(corrida)) * GUIAS : undefined
    }),
  },
  {
    clave: 'lote100',
    descripcion: 'lotes de 100 contra las mismas guías de una en una',
    medir: contra(1, 'de una en una', 8, ({ opciones: { segundos } }, _base, comercio, url) => {
      const individuales = cargaDeCrear(url, [comercio], 1, segundos)
      return async () => (await cargar(individuales)).porSegundo
    }),
  },
]
