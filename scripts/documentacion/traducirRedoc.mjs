/**
 * Module hook for redocly's process (`--import`). It translates and changes the page that redocly renders in advance.
 */
import { registerHooks } from 'node:module'
import { accesible } from './accesible.ts'
import { enEspanol, TRADUCE } from './espanol.ts'

registerHooks({
  load(url, contexto, siguiente) {
    const modulo = siguiente(url, contexto)
    if (!url.includes('/@redocly/cli/lib/chunks/') || !modulo.source) return modulo
    const codigo = modulo.source.toString()
    return TRADUCE.test(codigo) ? { ...modulo, source: enEspanol(accesible(codigo)) } : modulo
  },
})
