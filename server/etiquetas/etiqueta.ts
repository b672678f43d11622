import { askByKey } from '../data/owners.ts'
import { type Db, sentencia } from '../db.ts'
import type { Ajustes } from '../deps.ts'
import { type Ambito, type AmbitoEnFilas, enFilas, type FilaGuia } from '../guias/guia.ts'
import type { DatosDeEtiqueta } from './pdf.ts'

/** Counted up whenever the same data are drawn otherwise: entity tags of labels are made of the data. */
export const DIBUJO = 2

/** A guide and its merchant's name. */
export type FilaEtiqueta = FilaGuia & { nombre: string }

const LEER = sentencia<{ guias: readonly string[] } & AmbitoEnFilas, FilaEtiqueta>(
  'etiquetas.leer',
  `select g.*, c.nombre from unnest(:guias::text[]) with ordinality p(guia, n)
   join guia_indice i on i.guia = p.guia
     and (:comercio_id::uuid is null or (i.comercio_id = :comercio_id and i.modo = :modo))
   join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   join comercio c on c.id = g.comercio_id
   order by p.n`,
)

/** Of those codes the guides that there are, in the order given. */
export async function leerEtiquetas(db: Db, ambito: Ambito, codigos: readonly string[]): Promise<FilaEtiqueta[]> {
  const leer = ({ consultar }: Db, guias: readonly string[]) => consultar(LEER, { guias, ...enFilas(ambito) })
  if (ambito !== 'todos') return leer(db, codigos)
  const filas = await askByKey(db, codigos, leer)
  return filas.sort((una, otra) => codigos.indexOf(una.guia) - codigos.indexOf(otra.guia))
}

/** A courier would not take it. */
export const sinEtiqueta = ({ estado }: Pick<FilaGuia, 'estado'>) => estado === 'cancelado'

/** A link's name of its guides: codes have no hyphens of their own. */
export const unir = (codigos: readonly string[]) => codigos.join('-')
export const separar = (nombre: string) => nombre.split('-')

/** A row → what its label says. */
export function datosDe(fila: FilaEtiqueta, { urlPublica }: Pick<Ajustes, 'urlPublica'>): DatosDeEtiqueta {
  const { guia, modo, external_ref, contenido, recogida } = fila
  return {
    comercio: fila.nombre,
    modo,
    guia,
    external_ref,
    creado_en: fila.creado_en.toISOString(),
    url_rastreo: `${urlPublica}/r/${guia}`,
    recogida: { nombre: recogida.nombre, lat: recogida.lat, lng: recogida.lng },
    destinatario: {
      nombre: fila.destinatario,
      telefono: fila.telefono,
      departamento: fila.departamento,
      municipio: fila.municipio,
      direccion: fila.direccion,
      indicaciones: fila.indicaciones,
    },
    contenido,
  }
}
