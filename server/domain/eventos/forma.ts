// Versions of webhook bodies. A body is built again for each attempt, and must always be the same. Each event therefore
// stores the version that was current when it happened, and its body has only the members of that version.

/**
 * Members that bodies have since a later version than the first, by their path in `datos`. A list counts as its
 * elements: `guia.advertencias.codigo`. From the first release on, each new member of a guide or an event stands here,
 * with the next version. Until then there is one version.
 */
export const DESDE: Readonly<Record<string, number>> = {}

/** Returns the newest version in a table like {@link DESDE}. */
export const formaCon = (desde: Readonly<Record<string, number>>): number => Math.max(1, ...Object.values(desde))

/** Version of the webhook bodies of new events. */
const FORMA = formaCon(DESDE)

/** {@link FORMA} as `evento.forma` stores it: null is the first version, so that it takes no space. */
export const FORMA_GUARDADA: number | null = FORMA === 1 ? null : FORMA

/** SQL of the version that a new event stores in `evento.forma`: a number or null, as `smallint`. */
export const FORMA_EN_SQL = `${FORMA_GUARDADA}::smallint`

/**
 * Removes the members that are newer than a version, in place.
 * @param datos body's `datos`
 * @param guardada version as `evento.forma` stores it
 */
export function quitarNuevos(
  datos: object,
  guardada: number | null,
  desde: Readonly<Record<string, number>> = DESDE,
): void {
  const forma = guardada ?? 1
  for (const [ruta, version] of Object.entries(desde)) if (version > forma) quitar(datos, ruta.split('.'))
}

function quitar(donde: unknown, [miembro, ...resto]: readonly string[]): void {
  if (Array.isArray(donde)) for (const uno of donde) quitar(uno, [miembro!, ...resto])
  else if (donde !== null && typeof donde === 'object') {
    const objeto = donde as Record<string, unknown>
    if (resto.length > 0) quitar(objeto[miembro!], resto)
    else delete objeto[miembro!]
  }
}
