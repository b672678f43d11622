import { inTransaction, statement } from '../../data/db.ts'
import type { comercio } from '../../generated/contract/prisma/client.ts'
import type { Handler } from '../operation.ts'
import { columnsOf, newComercioCode, pickAudited, presentComercio } from './comercio.ts'

const CREATE = statement<comercio, comercio>(
  'comercios.create',
  'central',
  `insert into comercio (id, comercio, nombre, pais, estricto, ritmo_solicitudes, ritmo_guias, evidencia_fotos,
     evidencia_firma, evidencia_documento, politica_de_intentos_maximos, politica_de_intentos_dias_entre, politica_de_intentos_dias_para_decidir,
     politica_de_intentos_al_vencer, politica_de_intentos_destinatario_decide, creado_en)
   values (:id, :comercio, :nombre, :pais, :estricto, :ritmo_solicitudes, :ritmo_guias, :evidencia_fotos,
     :evidencia_firma, :evidencia_documento, :politica_de_intentos_maximos, :politica_de_intentos_dias_entre, :politica_de_intentos_dias_para_decidir,
     :politica_de_intentos_al_vencer, :politica_de_intentos_destinatario_decide, :creado_en) returning *`,
)

/** Settings of a new merchant if the request omits them. The database schema has the same defaults. */
const DEFAULT_SETTINGS = {
  pais: null,
  estricto: false,
  ritmo_solicitudes: null,
  ritmo_guias: null,
  evidencia_fotos: 1,
  evidencia_firma: 'obligatoria',
  evidencia_documento: 'opcional',
  politica_de_intentos_maximos: 3,
  politica_de_intentos_dias_entre: 1,
  politica_de_intentos_dias_para_decidir: 5,
  politica_de_intentos_al_vencer: 'devolver',
  politica_de_intentos_destinatario_decide: false,
}

export const crearComercio: Handler<'crearComercio'> = async ({ body, ...caller }, { db, newId, bitacora }) => {
  const nuevo = { ...newId(), comercio: newComercioCode(), ...DEFAULT_SETTINGS, ...columnsOf(body) }
  const row = await inTransaction(db, async (query) => {
    const [createdRow] = await query(CREATE, nuevo)
    await bitacora.record(query, caller, {
      accion: 'crearComercio',
      sobre: ['comercio', nuevo.comercio],
      de: { comercio_id: nuevo.id, modo: null },
      campos: Object.keys(body),
      despues: pickAudited(nuevo),
    })
    return createdRow!
  })
  return { status: 201, body: presentComercio(row) }
}
