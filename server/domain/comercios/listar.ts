import { positionOfId } from '../../api/lists/byId.ts'
import { paginate } from '../../api/lists/page.ts'
import { statement } from '../../data/db.ts'
import type { comercio } from '../../generated/contract/prisma/client.ts'
import { namePattern } from '../busqueda/busqueda.ts'
import type { Handler } from '../operation.ts'
import { presentComercio } from './comercio.ts'

interface ComercioFilters {
  /** `like` pattern for the merchant's name; null matches every name. */
  pattern: string | null
  comercios: readonly string[] | null
  despues: string | null
  count: number
}

/** Letters with accents, and the same letters without, for SQL's `translate`. */
const ACCENTS = "'áàäâãéèëêíìïîóòöôõúùüûñç', 'aaaaaeeeeiiiiooooouuuunc'"

// There are some thousands of merchants at most, so a search by name needs no index.
const LIST = statement<ComercioFilters, comercio>(
  'comercios.list',
  'central',
  `select * from comercio
   where (:despues::uuid is null or id < :despues::uuid)
     and (:comercios::text[] is null or comercio = any(:comercios::text[]))
     and (:pattern::text is null or translate(lower(nombre), ${ACCENTS}) like :pattern::text)
   order by id desc limit :count`,
)

export const listarComercios: Handler<'listarComercios'> = async ({ query }, { db, cursors }) => {
  const { texto, comercio, ...requestedPage } = query ?? {}
  const listParams = {
    pattern: texto === undefined ? null : namePattern(texto),
    comercios: comercio ?? null,
  }
  const scope = { operacion: 'listarComercios', dueno: 'operador', filters: { texto, comercio } }
  const page = await paginate(cursors, scope, requestedPage, {
    read: (after, count) => db.query(LIST, { ...listParams, despues: after ? String(after[0]) : null, count }),
    positionOf: positionOfId,
    present: presentComercio,
  })
  return { status: 200, body: page }
}
