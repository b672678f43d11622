import { inTransaction, statement } from '../../data/db.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import { doOnce } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { guiaKeyOf } from '../records/guiaFields.ts'
import { dataErasedProblem, findGuia } from '../records/guiaLookup.ts'
import { type NotaRow, presentNotas } from './nota.ts'

/**
 * Stores a note and locks its guide until the transaction ends. Stores nothing if the guide's personal data were
 * erased.
 */
const CREATE = statement<Omit<NotaRow, 'secuencia'>, NotaRow>(
  'notas.create',
  'merchant',
  `with g as (
     select secuencia from guia where comercio_id = :comercio_id and modo = :modo and id = :guia_id
       and datos_borrados_en is null for share
   )
   insert into nota (comercio_id, modo, guia_id, id, nota, texto, autor, secuencia, creado_en)
   select :comercio_id::uuid, :modo::text, :guia_id::uuid, :id::uuid, :nota::text, :texto::text, :autor::text, secuencia,
     :creado_en::timestamptz from g
   returning *`,
)

export const crearNota: Handler<'crearNota'> = async ({ path, headers: requestHeaders, body, ...caller }, deps) => {
  const { db, newId, bitacora } = deps
  const guia = await findGuia(db, 'todos', path.guia)
  const { comercio_id, modo } = guia
  const onceInput = { identity: { comercioId: comercio_id, modo }, headers: requestHeaders, path, body }
  const { result, headers } = await doOnce(deps, 'crearNota', onceInput, {
    perform: (remember) =>
      inTransaction(db.forComercio(comercio_id), async (query) => {
        const [row] = await query(CREATE, {
          ...guiaKeyOf(guia),
          ...newId(),
          nota: `not_${randomBase32(12)}`,
          texto: body.texto,
          autor: caller.identity.operador,
        })
        if (!row) throw dataErasedProblem()
        const sobre = ['guia', guia.guia] as const
        await bitacora.record(query, caller, {
          accion: 'crearNota',
          sobre,
          de: { comercio_id, modo },
          campos: ['texto'],
        })
        await remember(query, row.id)
        return row
      }),
    reread: async (id) => {
      const key = { ...guiaKeyOf(guia), id }
      const row = await db
        .forComercio(comercio_id)
        .prisma.nota.findUnique({ where: { comercio_id_modo_guia_id_id: key } })
      return row ? (row as NotaRow) : undefined
    },
  })
  const [nota] = await presentNotas(db, guia.guia, [result])
  return { status: 201, headers, body: nota! }
}
