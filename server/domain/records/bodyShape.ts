// Versions of webhook bodies. A body is built again for each attempt, and must always be the same. Each event therefore
// stores the version that was current when it happened, and its body has only the members of that version.

/**
 * Members that bodies have since a later version than the first, by their path in `datos`. A list counts as its
 * elements: `guia.advertencias.codigo`. From the first release on, each new member of a guide or an event stands here,
 * with the next version. Until then there is one version.
 */
export const MEMBERS_SINCE: Readonly<Record<string, number>> = {}

/** Returns the newest version in a table like {@link MEMBERS_SINCE}. */
export const formaCon = (desde: Readonly<Record<string, number>>): number => Math.max(1, ...Object.values(desde))

/** Version of the webhook bodies of new events. */
const FORMA = formaCon(MEMBERS_SINCE)

/** {@link FORMA} as `evento.forma` stores it: null is the first version, so that it takes no space. */
export const STORED_FORMA: number | null = FORMA === 1 ? null : FORMA

/** SQL of the version that a new event stores in `evento.forma`: a number or null, as `smallint`. */
export const FORMA_EN_SQL = `${STORED_FORMA}::smallint`

/**
 * Removes the members that are newer than a version, in place.
 * @param datos body's `datos`
 * @param storedForma version as `evento.forma` stores it
 */
export function removeNewMembers(
  datos: object,
  storedForma: number | null,
  desde: Readonly<Record<string, number>> = MEMBERS_SINCE,
): void {
  const forma = storedForma ?? 1
  for (const [path, version] of Object.entries(desde)) if (version > forma) remove(datos, path.split('.'))
}

function remove(donde: unknown, [member, ...rest]: readonly string[]): void {
  if (Array.isArray(donde)) for (const item of donde) remove(item, [member!, ...rest])
  else if (donde !== null && typeof donde === 'object') {
    const object = donde as Record<string, unknown>
    if (rest.length > 0) remove(object[member!], rest)
    else delete object[member!]
  }
}
