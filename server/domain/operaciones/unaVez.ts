import type { OperationId } from '../../api/contract/contract.ts'
import type { GuiaDeOperacion } from '../../generado/contrato/tipos/index.ts'
import type { Deps } from '../deps.ts'
import { buscarGuia, type FilaGuia } from '../guias/guia.ts'
import { type Recordar, readKey, unaVez } from '../idempotencia/idempotencia.ts'
import { presentarGuias } from './guia.ts'

/** Request of an operator about a guide. */
interface PorOperador {
  path: { guia: string }
  headers: Parameters<typeof readKey>[0]
  body?: object | undefined
}

/**
 * Executes an operator's request about a guide at most once for each key, and answers with the guide. The key belongs
 * to the guide's merchant, like the keys of the merchant's own requests.
 * @throws Problema 404; 409 if the key belongs to another request
 */
export async function unaVezPorOperador(
  deps: Pick<Deps, 'db' | 'reloj' | 'secretos' | 'ajustes'>,
  operacion: OperationId,
  { path, headers: cabeceras, body }: PorOperador,
  hacer: (recordar: Recordar) => Promise<FilaGuia & { comercio: string }>,
): Promise<{ status: 200; headers: { 'Idempotent-Replayed'?: 'true' }; body: GuiaDeOperacion }> {
  const { comercio_id: comercioId, modo } = await buscarGuia(deps.db, 'todos', path.guia)
  const { hecho, headers } = await unaVez(
    deps,
    operacion,
    { identidad: { comercioId, modo }, headers: cabeceras, path, body },
    {
      hacer,
      releer: (guia) => buscarGuia(deps.db, 'todos', guia),
    },
  )
  const [guia] = await presentarGuias(deps, [hecho])
  return { status: 200, headers, body: guia! }
}

/** Returns an operator's report with the key of its request. The event stores the key, so the key never expires. */
export function withKey<T extends object>({ headers, body }: { headers: PorOperador['headers']; body: T }) {
  const idempotencia = readKey(headers)
  return idempotencia === undefined ? body : { ...body, idempotencia }
}
