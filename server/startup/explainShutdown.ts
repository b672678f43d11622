import type { Config } from '../platform/config/config.ts'
import { exposure, isLoopbackHost } from '../platform/config/exposure.ts'

const enumerar = new Intl.ListFormat('es', { type: 'conjunction' })

/**
 * Console text, in Spanish, that lists the features turned off because other machines can reach the service, and the
 * settings that cause it. Undefined if no feature is off. Only the embedded default turns features off.
 */
export function explainShutdown({ publicUrl, proxies, host, baseDeDatos, buzon, webhooksLoopback }: Config) {
  if (baseDeDatos.tipo !== 'embebida') return undefined
  const porque = exposure({ publicUrl, proxies })
  const deMaquina = [...(buzon ? [] : ['el buzón']), ...(webhooksLoopback ? [] : ['los webhooks a esta máquina'])]
  if (porque.length > 0) {
    const que = ['las llaves y el código de demostración', ...deMaquina]
    return `Apagado: ${enumerar.format(que)}, porque con ${porque.join(' y ')} llegan otras máquinas. Cree sus llaves con «npm run admin».`
  }
  if (isLoopbackHost(host) || deMaquina.length === 0) return undefined
  return `Apagado: ${enumerar.format(deMaquina)}, porque con HOST=${host} llegan otras máquinas.`
}
