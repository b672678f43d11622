import { positionOfId } from '../../api/lists/byId.ts'
import { paginate } from '../../api/lists/page.ts'
import { statement } from '../../data/db.ts'
import type { comercio } from '../../generado/contrato/prisma/client.ts'
import { patronDeNombre } from '../busqueda/busqueda.ts'
import type { Handler } from '../operation.ts'
import { presentarComercio } from './comercio.ts'

interface Filtros {
  /** `like` pattern for the merchant's name; null matches every name. */
  patron: string | null
  comercios: readonly string[] | null
  despues: string | null
  cuantos: number
}

/** Letters with accents, and the same letters without, for SQL's `translate`. */
const ACENTOS = "'áàäâãéèëêíìïîóòöôõúùüûñç', 'aaaaaeeeeiiiiooooouuuunc'"

// There are some thousands of merchants at most, so a search by name needs no index.
const LISTAR = statement<Filtros, comercio>(
  'comercios.listar',
  `select * from comercio
   where (:despues::uuid is null or id < :despues::uuid)
     and (:comercios::text[] is null or comercio = any(:comercios::text[]))
     and (:patron::text is null or translate(lower(nombre), ${ACENTOS}) like :patron::text)
   order by id desc limit :cuantos`,
)

export const listarComercios: Handler<'listarComercios'> = async ({ query }, { db, cursores }) => {
  const { texto, comercio, ...pedida } = query ?? {}
  const cuales = {
    patron: texto === undefined ? null : patronDeNombre(texto),
    comercios: comercio ?? null,
  }
  const ambito = { operacion: 'listarComercios', dueno: 'operador', filtros: { texto, comercio } }
  const pagina = await paginate(cursores, ambito, pedida, {
    leer: (despues, cuantos) =>
      db.consultar(LISTAR, { ...cuales, despues: despues ? String(despues[0]) : null, cuantos }),
    posicion: positionOfId,
    presentar: presentarComercio,
  })
  return { status: 200, body: pagina }
}
