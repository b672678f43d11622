import { base32AlAzar } from '../codigos/codigos.ts'
import type { comercio } from '../contrato/generado/prisma/client.ts'
import type { Comercio, Pais, RitmosDeComercio } from '../contrato/generado/tipos/index.ts'
import type { Db } from '../db.ts'
import { Problema } from '../errores.ts'
import { RITMOS_POR_OMISION } from '../limites/ritmos.ts'

/** A merchant as the contract has it. */
export const presentarComercio = ({ comercio, nombre, pais, estricto, creado_en, ...ritmos }: comercio): Comercio => ({
  comercio,
  nombre,
  pais: pais as Pais | null,
  estricto,
  ritmos: presentarRitmos(ritmos),
  creado_en: creado_en.toISOString(),
})

/** A merchant's rhythms, where it has none of its own the service's. */
export const presentarRitmos = (fila: Pick<comercio, 'ritmo_solicitudes' | 'ritmo_guias'>): RitmosDeComercio => ({
  solicitudes: fila.ritmo_solicitudes ?? RITMOS_POR_OMISION.solicitudes,
  guias: fila.ritmo_guias ?? RITMOS_POR_OMISION.guias,
})

/** What the contract says of a merchant, as columns. */
export const columnasDe = <T extends { ritmos?: RitmosDeComercio }>({ ritmos, ...resto }: T) => ({
  ...resto,
  ...(ritmos && { ritmo_solicitudes: ritmos.solicitudes, ritmo_guias: ritmos.guias }),
})

/** The columns of a merchant whose values stand in the audit record, where its name, which may be a person's, doesn't. */
export const DECIBLES = ['pais', 'estricto', 'ritmo_solicitudes', 'ritmo_guias'] as const

export const decibles = (fila: Pick<comercio, (typeof DECIBLES)[number]>) =>
  Object.fromEntries(DECIBLES.map((columna) => [columna, fila[columna]]))

/** A merchant's new public identifier. */
export const nuevoCodigoDeComercio = () => `com_${base32AlAzar(12)}`

/** The merchant of a public identifier; undefined if there is none, also for what can't be one. */
export async function buscarComercio(db: Db, codigo: string): Promise<comercio | undefined> {
  if (!/^com_[0-9A-Z]{12}$/.test(codigo)) return undefined
  return (await db.prisma.comercio.findUnique({ where: { comercio: codigo } })) ?? undefined
}

/** The merchant of a public identifier. @throws Problema 404 */
export async function exigirComercio(db: Db, codigo: string): Promise<comercio> {
  const fila = await buscarComercio(db, codigo)
  if (!fila) throw new Problema('comercio_desconocido', 'No hay ningún comercio con ese identificador.')
  return fila
}
