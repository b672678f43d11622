import type { Config } from '../platform/config/config.ts'
import { exposure, isLoopbackHost } from '../platform/config/exposure.ts'

const enumerate = new Intl.ListFormat('es', { type: 'conjunction' })

/**
 * Console text, in Spanish, that lists the features turned off because other machines can reach the service, and the
 * settings that cause it. Undefined if no feature is off. Only the embedded default turns features off.
 */
export function explainShutdown({ publicUrl, proxies, host, database, buzon, webhooksLoopback }: Config) {
  if (database.tipo !== 'embebida') return undefined
  const exposures = exposure({ publicUrl, proxies })
  const localFeatures = [...(buzon ? [] : ['el buzón']), ...(webhooksLoopback ? [] : ['los webhooks a esta máquina'])]
  if (exposures.length > 0) {
    const disabledItems = ['las llaves y el código de demostración', ...localFeatures]
    return `Apagado: ${enumerate.format(disabledItems)}, porque con ${exposures.join(' y ')} llegan otras máquinas. Cree sus llaves con «npm run admin».`
  }
  if (isLoopbackHost(host) || localFeatures.length === 0) return undefined
  return `Apagado: ${enumerate.format(localFeatures)}, porque con HOST=${host} llegan otras máquinas.`
}
