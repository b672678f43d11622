/**
 * Module hook for redocly's process (`--import`). It translates and changes the page that redocly renders in advance.
 */
import { registerHooks } from 'node:module'
import { makeAccessible } from './accessible.ts'
import { TRANSLATE_FUNCTION, translateRedoc } from './spanish.ts'

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.includes('/@redocly/cli/lib/chunks/') || !loaded.source) return loaded
    const source = loaded.source.toString()
    return TRANSLATE_FUNCTION.test(source) ? { ...loaded, source: translateRedoc(makeAccessible(source)) } : loaded
  },
})
