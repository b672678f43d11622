import { inTransaction, statement } from '../../data/db.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import { deGuia } from '../eventos/evento.ts'
import { buscarGuia, datosBorrados } from '../guias/guia.ts'
import { unaVez } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { type FilaNota, presentarNotas } from './nota.ts'

/**
 * Stores a note and locks its guide until the transaction ends. Stores nothing if the guide's personal data were
 * erased.
 */
const CREAR = statement<Omit<FilaNota, 'secuencia'>, FilaNota>(
  'notas.crear',
  `with g as (
     select secuencia from guia where comercio_id = :comercio_id and modo = :modo and id = :guia_id
       and datos_borrados_en is null for share
   )
   insert into nota (comercio_id, modo, guia_id, id, nota, texto, autor, secuencia, creado_en)
   select :comercio_id::uuid, :modo::text, :guia_id::uuid, :id::uuid, :nota::text, :texto::text, :autor::text, secuencia,
     :creado_en::timestamptz from g
   returning *`,
)

export const crearNota: Handler<'crearNota'> = async ({ path, headers: cabeceras, body, ...quien }, deps) => {
  const { db, nuevoId, bitacora } = deps
  const guia = await buscarGuia(db, 'todos', path.guia)
  const { comercio_id, modo } = guia
  const entrada = { identidad: { comercioId: comercio_id, modo }, headers: cabeceras, path, body }
  const { hecho, headers } = await unaVez(deps, 'crearNota', entrada, {
    hacer: (recordar) =>
      inTransaction(db.de(comercio_id), async (consultar) => {
        const [fila] = await consultar(CREAR, {
          ...deGuia(guia),
          ...nuevoId(),
          nota: `not_${randomBase32(12)}`,
          texto: body.texto,
          autor: quien.identidad.operador,
        })
        if (!fila) throw datosBorrados()
        const sobre = ['guia', guia.guia] as const
        await bitacora.anotar(consultar, quien, {
          accion: 'crearNota',
          sobre,
          de: { comercio_id, modo },
          campos: ['texto'],
        })
        await recordar(consultar, fila.id)
        return fila
      }),
    releer: async (id) => {
      const clave = { ...deGuia(guia), id }
      const fila = await db.de(comercio_id).prisma.nota.findUnique({ where: { comercio_id_modo_guia_id_id: clave } })
      return fila ? (fila as FilaNota) : undefined
    },
  })
  const [nota] = await presentarNotas(db, guia.guia, [hecho])
  return { status: 201, headers, body: nota! }
}
