import { isSimilar } from '../../platform/similar.ts'

/** Path prefix of all operations for merchants. */
const PREFIX = '/api/v1'

/** Segments of a path without a prefix that clients forget or mistype, such as `/api` or `/v2`. */
const segmentsOf = (path: string): string[] => {
  const segments = path.split('/').filter(Boolean)
  if (segments[0]?.toLowerCase() === 'api') segments.shift()
  if (/^v\d+$/i.test(segments[0] ?? '')) segments.shift()
  return segments
}

/** Shortest beginning of a segment that stands for the whole: `prueba` for `prueba-entrega`. */
const MIN_BEGINNING = 4

const isNear = (written: string, part: string) =>
  isSimilar(written, part) || (written.length >= MIN_BEGINNING && part.startsWith(written.toLowerCase()))

/**
 * Distance of a path from a path template. Each fixed segment with other spelling costs 1 and each parameter costs 2,
 * so `bulks` is closer to `bulk` than to a guide's code. A missing first segment costs 3, if a fixed one follows it.
 * Undefined if the path cannot match the template.
 */
function distance(template: readonly string[], segments: readonly string[]): number | undefined {
  const [, second = '{', ...others] = template
  if (template.length === segments.length + 1 && !second.startsWith('{')) {
    const rest = distance([second, ...others], segments)
    return rest === undefined ? undefined : rest + 3
  }
  if (template.length !== segments.length) return undefined
  let sum = 0
  for (const [i, part] of template.entries()) {
    if (part.startsWith('{')) sum += 2
    else if (part !== segments[i]) {
      if (!isNear(segments[i]!, part)) return undefined
      sum++
    }
  }
  return sum
}

/**
 * Creates the function that finds the path of the API that an unknown path probably means. Values in the place of
 * parameters are kept. Returns undefined if no path is similar.
 */
export function createNearestPath(paths: readonly string[]): (path: string) => string | undefined {
  const templates = paths.filter((template) => template.startsWith(`${PREFIX}/`)).map(segmentsOf)
  return (path) => {
    const segments = segmentsOf(path)
    let best: { template: readonly string[]; far: number } | undefined
    for (const template of templates) {
      const far = distance(template, segments)
      if (far !== undefined && (best === undefined || far < best.far)) best = { template, far }
    }
    if (!best) return undefined
    const missing = best.template.length - segments.length
    const parts = best.template.map((part, i) => (part.startsWith('{') ? segments[i - missing] : part))
    return `${PREFIX}/${parts.join('/')}`
  }
}
