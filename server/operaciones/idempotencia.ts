import type { Deps } from '../deps.ts'
import { Problema } from '../errores.ts'
import { buscarEventoPorIdempotencia, type FilaEvento } from '../eventos/evento.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { huella, type Secretos } from '../secretos.ts'

/** What a request says, whatever the order in which it says it. */
export const contenidoDe = (cuerpo: object): string =>
  JSON.stringify(cuerpo, (_clave, valor) =>
    valor !== null && typeof valor === 'object' && !Array.isArray(valor)
      ? Object.fromEntries(Object.entries(valor).sort(([a], [b]) => (a < b ? -1 : 1)))
      : valor,
  )

/** With the name of its key: a new master key must not make a replay a conflict. */
export function huellaDeContenido(secretos: Secretos, contenido: string): string {
  const presente = secretos.presente('huellas')
  return `${presente.kid}:${huella(presente, contenido)}`
}

/** Whether an event was registered by a request that said just that. */
export function esElMismo(secretos: Secretos, evento: Pick<FilaEvento, 'huella'>, contenido: string): boolean {
  const [kid = '', primera] = evento.huella?.split(':') ?? []
  const subclave = secretos.de('huellas', kid)
  return subclave !== undefined && huella(subclave, contenido) === primera
}

/** @throws Problema 409 when the key is another event's */
export async function yaRegistrado(
  { db, secretos }: Pick<Deps, 'db' | 'secretos'>,
  guia: FilaGuia,
  idempotencia: string | undefined,
  contenido: string,
): Promise<FilaEvento | undefined> {
  if (idempotencia === undefined) return undefined
  const evento = await buscarEventoPorIdempotencia(db, guia, idempotencia)
  if (evento && !esElMismo(secretos, evento, contenido)) {
    throw new Problema(
      'idempotencia_en_conflicto',
      `La clave ${idempotencia} ya es del evento evt_${evento.guia}_${evento.secuencia}, que es distinto. Use una clave nueva por cada evento.`,
    )
  }
  return evento
}
