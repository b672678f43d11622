// Versions of webhook bodies. A body is built again for each attempt, and must always be the same. Each event therefore
// stores the version that was current when it happened, and its body has only the members of that version.

/**
 * Members that bodies have since a later version than the first, by their path in `datos`. A list counts as its
 * elements: `guia.advertencias.codigo`. From the first release on, each new member of a guide or an event stands here,
 * with the next version. Until then there is one version.
 */
export const MEMBERS_SINCE: Readonly<Record<string, number>> = {}

/** Returns the newest version in a table like {@link MEMBERS_SINCE}. */
export const shapeWith = (from: Readonly<Record<string, number>>): number => Math.max(1, ...Object.values(from))

/** Version of the webhook bodies of new events. */
const SHAPE = shapeWith(MEMBERS_SINCE)

/** {@link SHAPE} as `evento.forma` stores it: null is the first version, so that it takes no space. */
export const STORED_SHAPE: number | null = SHAPE === 1 ? null : SHAPE

/** SQL of the version that a new event stores in `evento.forma`: a number or null, as `smallint`. */
export const SHAPE_IN_SQL = `${STORED_SHAPE}::smallint`

/**
 * Removes the members that are newer than a version, in place.
 * @param datos body's `datos`
 * @param storedShape version as `evento.forma` stores it
 */
export function removeNewMembers(
  datos: object,
  storedShape: number | null,
  from: Readonly<Record<string, number>> = MEMBERS_SINCE,
): void {
  const shape = storedShape ?? 1
  for (const [path, version] of Object.entries(from)) if (version > shape) remove(datos, path.split('.'))
}

function remove(where: unknown, [member, ...rest]: readonly string[]): void {
  if (Array.isArray(where)) for (const item of where) remove(item, [member!, ...rest])
  else if (where !== null && typeof where === 'object') {
    const object = where as Record<string, unknown>
    if (rest.length > 0) remove(object[member!], rest)
    else delete object[member!]
  }
}
