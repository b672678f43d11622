/** Precision, in metres, above which a position identifies a neighbourhood and not a door. */
export const IMPRECISE_ABOVE_M = 200

/** Minimum length of the description of a location, in characters. */
export const MIN_DESCRIPTION_LENGTH = 12
export const DESCRIPTION_TOO_SHORT = 'Describa el lugar con más detalle: cómo llegar y cómo se ve.'

/** Returns a distance as people say it: «20 metros», «1.2 km». */
export const formatMetres = (metres: number) =>
  metres < 950
    ? `${Math.max(1, metres < 20 ? Math.round(metres) : Math.round(metres / 10) * 10)} metros`
    : `${(metres / 1000).toFixed(1)} km`

/**
 * Returns the request to correct an imprecise position.
 * @param metres precision of the position, in metres
 * @param hasMap false if the recipient cannot see a map
 */
export const askForPin = (metres: number, hasMap = true) =>
  `Esta posición puede fallar por ${formatMetres(metres)}. ${hasMap ? 'Ponga el pin en su puerta' : 'Diga el lugar de otra forma'} o, si está bien, márquelo.`
