import { cargar } from '../arnes/carga.ts'
import { guionDeLote, nuevoLote } from '../arnes/datos.ts'
import type { Banco, Base, Comercio } from '../arnes/entorno.ts'
import { correrPgbench } from '../arnes/pgbench.ts'
import { intercalar } from '../arnes/rondas.ts'
import { cargaDeCrear, fila } from './crear.ts'
import type { Medida } from './medida.ts'

const GUIAS = 100

const conServicio = (
  banco: Banco,
  medir: (base: Base, comercio: Comercio, url: string) => Promise<ReturnType<typeof fila>[]>,
) =>
  banco.conBase(async (base) => {
    const [comercio] = await base.crearComercios(1)
    const { url } = await base.servicio()
    await guiasPorLote(url, comercio!, 8, Math.min(2, banco.opciones.segundos))
    return { filas: await medir(base, comercio!, url) }
  })

/** Guides per second in batches of 100. */
async function guiasPorLote(url: string, comercio: Comercio, conexiones: number, segundos: number): Promise<number> {
  const { porSegundo } = await cargar({
    url,
    conexiones,
    segundos,
    espera: 200,
    siguiente: () => ({ metodo: 'POST', ruta: '/api/v1/guias/bulk', llave: comercio.llave, cuerpo: nuevoLote(GUIAS) }),
    revisar: (cuerpo) => cuerpo.startsWith(`{"ok":true,"creadas":${GUIAS},"fallidas":0,`),
  })
  return porSegundo * GUIAS
}

const contraPgbench = (banco: Banco) =>
  conServicio(banco, async (base, comercio, url) => {
    const { rondas, segundos } = banco.opciones
    const clientes = 8
    const corrida = { url: base.url, carpeta: banco.carpeta, guion: guionDeLote([comercio], GUIAS), clientes, segundos }
    const valores = await intercalar(rondas, {
      programa: () => guiasPorLote(url, comercio, clientes, segundos),
      referencia: banco.pgbench ? async () => (await correrPgbench(corrida)) * GUIAS : undefined,
    })
    return [fila('lotes de 100, 8 conexiones', 'guías/s', 'pgbench', valores, { sentido: '≥', valor: 0.7 })]
  })

/** The mark is one merchant's: one connection sends a batch, or its guides one after another. */
const contraIndividuales = (banco: Banco) =>
  conServicio(banco, async (_base, comercio, url) => {
    const { rondas, segundos } = banco.opciones
    const filas: ReturnType<typeof fila>[] = []
    for (const conexiones of [1, 8]) {
      const individuales = cargaDeCrear(url, [comercio], conexiones, segundos)
      const valores = await intercalar(rondas, {
        programa: () => guiasPorLote(url, comercio, conexiones, segundos),
        referencia: async () => (await cargar(individuales)).porSegundo,
      })
      const medida = `lotes de 100, ${conexiones === 1 ? '1 conexión' : `${conexiones} conexiones`}`
      filas.push(
        fila(medida, 'guías/s', 'de una en una', valores, conexiones === 1 ? { sentido: '≥', valor: 8 } : undefined),
      )
    }
    return filas
  })

export const lote: Medida[] = [
  {
    clave: 'lote',
    descripcion: 'lotes de 100, 8 conexiones, contra pgbench con las 100 filas en una sentencia',
    medir: contraPgbench,
  },
  { clave: 'lote100', descripcion: 'lotes de 100 contra las mismas guías de una en una', medir: contraIndividuales },
]
