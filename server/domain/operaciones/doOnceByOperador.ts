import type { OperationId } from '../../api/contract/contract.ts'
import type { GuiaDeOperacion } from '../../generated/contract/types/index.ts'
import type { Deps } from '../deps.ts'
import { doOnce, type Remember, readKey } from '../idempotencia/idempotencia.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { presentOperacionGuias } from './guia.ts'

/** Request of an operator about a guide. */
interface OperadorInput {
  path: { guia: string }
  headers: Parameters<typeof readKey>[0]
  body?: object | undefined
}

/**
 * Executes an operator's request about a guide at most once for each key, and answers with the guide. The key belongs
 * to the guide's merchant, like the keys of the merchant's own requests.
 * @throws Problema 404; 409 if the key belongs to another request
 */
export async function doOnceByOperador(
  deps: Pick<Deps, 'db' | 'clock' | 'secretos' | 'settings'>,
  operation: OperationId,
  { path, headers: requestHeaders, body }: OperadorInput,
  perform: (remember: Remember) => Promise<GuiaRow & { comercio: string }>,
): Promise<{ status: 200; headers: { 'Idempotent-Replayed'?: 'true' }; body: GuiaDeOperacion }> {
  const { comercio_id: comercioId, modo } = await findGuia(deps.db, 'todos', path.guia)
  const { result, headers } = await doOnce(
    deps,
    operation,
    { identity: { comercioId, modo }, headers: requestHeaders, path, body },
    {
      perform,
      reread: (guia) => findGuia(deps.db, 'todos', guia),
    },
  )
  const [guia] = await presentOperacionGuias(deps, [result])
  return { status: 200, headers, body: guia! }
}

/**
 * Adds the request's `Idempotency-Key`, if any, to the body. The event stores the key, so a repeated request is
 * recognised at any later time.
 */
export function withKey<T extends object>({ headers, body }: { headers: OperadorInput['headers']; body: T }) {
  const idempotencia = readKey(headers)
  return idempotencia === undefined ? body : { ...body, idempotencia }
}
