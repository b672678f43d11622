import type { Falla } from '../contrato/generado/tipos/index.ts'
import { type Db, enTransaccion, sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'
import { Problema, problemaDeFallas } from '../errores.ts'
import { darPaso, type FilaEvento, type Paso } from '../eventos/evento.ts'
import { buscarGuia, type FilaGuia } from '../guias/guia.ts'
import { leerArchivos } from './prueba.ts'

/** A file that a request names, and where it does. */
export interface ArchivoPedido {
  archivo: string
  tipo: 'foto' | 'firma'
  campo: string
}

export const fotosPedidas = (fotos: readonly string[]): ArchivoPedido[] =>
  fotos.map((archivo, i) => ({ archivo, tipo: 'foto', campo: `/fotos/${i}` }))

/** Where whoever asks uploads his files. */
export type ApiDeSubida = '/operaciones/v1' | '/repartidor/v1'

/**
 * Each file is this guide's, of its kind, and nobody uses it yet. False: somebody moved the guide between the two looks;
 * perhaps it was this very request, come twice, that took them.
 * @param api where whoever asks uploads his pictures
 * @throws Problema 422 naming each file that isn't
 */
export async function estanSinUsar(
  db: Db,
  guia: FilaGuia,
  pedidos: readonly ArchivoPedido[],
  api: ApiDeSubida,
): Promise<boolean> {
  const nombres = pedidos.map(({ archivo }) => archivo)
  const suyos = await leerArchivos(db, guia, nombres)
  const fallas = pedidos.flatMap(({ archivo, tipo, campo }): Falla[] => {
    const fila = suyos.get(archivo)
    if (fila?.tipo === tipo && fila.usado_en === null) return []
    const mensaje = fila
      ? `debe ser una ${tipo} sin usar; ese archivo es ${fila.tipo}${fila.usado_en ? ' y ya está en una prueba' : ''}`
      : `no es un archivo de esta guía; súbalo a POST ${api}/guias/${guia.guia}/archivos`
    return [{ campo, codigo: 'valor_no_admitido', mensaje }]
  })
  if (fallas.length === 0) return true
  if ((await buscarGuia(db, 'todos', guia.guia)).secuencia !== guia.secuencia) return false
  throw problemaDeFallas('validacion', fallas)
}

const USAR = sentencia(
  'archivos.usar',
  `update archivo set usado_en = $5::timestamptz
   where comercio_id = $1 and modo = $2 and guia_id = $3 and archivo = any($4::text[]) and usado_en is null
   returning archivo`,
)

/**
 * The step, its files and what `escribir` writes of them, together or not at all; undefined: somebody else moved the
 * guide meanwhile, nothing was written, and the files are free.
 * @throws Problema 409 when a file went since it was looked at
 */
export async function darPasoUsando(
  { db, avisarTrabajo }: Pick<Deps, 'db' | 'avisarTrabajo'>,
  guia: FilaGuia,
  paso: Paso,
  archivos: readonly string[],
  escribir: (consultar: Db['consultar'], evento: FilaEvento) => Promise<unknown>,
): ReturnType<typeof darPaso> {
  const dado = await enTransaccion(db, async (consultar) => {
    const dado = await darPaso({ db: { ...db, consultar }, avisarTrabajo: () => {} }, guia, paso)
    if (!dado) return undefined
    const usados = await consultar(USAR, [guia.comercio_id, guia.modo, guia.id, archivos, paso.registrado_en])
    if (usados.length !== archivos.length)
      throw new Problema('carrera_perdida', 'Un archivo se borró mientras tanto. Súbalo otra vez.')
    await escribir(consultar, dado.evento)
    return dado
  })
  // Once it is committed.
  if (dado) avisarTrabajo()
  return dado
}
