// Finds the targets to which a page sends its reader. Pure.
// The page comes from a stranger. Every pattern is bounded or stops at the next tag or quote, so that a hostile page
// costs linear time.

const MAX_TARGETS = 20

/**
 * Returns up to 20 absolute URLs, the most reliable first: `refresh` tags and scripts, which a browser follows by
 * itself, then the page's canonical URL.
 */
export function pageTargets(page: string, base: URL): string[] {
  const rawTargets = [...refreshTargets(page), ...scriptTargets(page), ...canonicalTargets(page)]
  return rawTargets.slice(0, MAX_TARGETS).flatMap((rawTarget) => URL.parse(rawTarget.trim(), base.href)?.href ?? [])
}

const META = /<meta\b[^<>]{0,4000}>/gi
const LINK = /<link\b[^<>]{0,4000}>/gi

function refreshTargets(page: string): string[] {
  return [...page.matchAll(META)].flatMap(([etiqueta]) => {
    if (readAttribute(etiqueta, 'http-equiv').toLowerCase() !== 'refresh') return []
    return (
      /^[\d.\s]{0,20}[;,]\s{0,9}(?:url\s{0,9}=\s{0,9})?["']?([^"']+)/i.exec(readAttribute(etiqueta, 'content'))?.[1] ??
      []
    )
  })
}

/** Finds `location = '…'`, `location.href = '…'` and `location.replace('…')`, but only with a plain string. */
function scriptTargets(page: string): string[] {
  const pattern =
    /\blocation(?:\.href)?\s{0,3}(?:=|\.(?:replace|assign)\s{0,3}\()\s{0,3}(?:"([^"<>\s]{1,2100})"|'([^'<>\s]{1,2100})')/g
  return [...page.matchAll(pattern)].map(([, doubleQuoted, simple]) => unescapeScript(doubleQuoted ?? simple ?? ''))
}

function canonicalTargets(page: string): string[] {
  return [...page.matchAll(LINK)].flatMap(([etiqueta]) => {
    const href = readAttribute(etiqueta, 'href')
    // Ignores a canonical URL of the bare map, or of a map around a point without a place. Google shows there the
    // surroundings of the client, which is this server.
    const isGeneric = /\/maps(?:\/@[^/?#]*)?\/?(?:#|$)/.test(href)
    return readAttribute(etiqueta, 'rel').toLowerCase() === 'canonical' && !isGeneric ? href : []
  })
}

function readAttribute(etiqueta: string, name: string): string {
  const pattern = new RegExp(`\\s${name}\\s{0,9}=\\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i')
  const [, doubleQuoted, simple, unquoted] = pattern.exec(etiqueta) ?? []
  return decodeEntities(doubleQuoted ?? simple ?? unquoted ?? '')
}

const ENTITIES: Record<string, string> = { amp: '&', quot: '"', apos: "'", '#38': '&', '#34': '"', '#39': "'" }
const decodeEntities = (text: string) =>
  text.replace(/&(amp|quot|apos|#38|#34|#39);/g, (_match, name: string) => ENTITIES[name]!)

const unescapeScript = (text: string) =>
  text
    .replace(/\\(?:x([\da-f]{2})|u([\da-f]{4}))/gi, (_match, x?: string, u?: string) =>
      String.fromCharCode(Number.parseInt(x ?? u ?? '', 16)),
    )
    .replaceAll('\\/', '/')
