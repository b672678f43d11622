const YEAR_DAYS = 365

/** Returns a period in words: «un año», «90 días». */
function describePeriod(days: number): string {
  if (days % YEAR_DAYS !== 0) return days === 1 ? 'un día' : `${days} días`
  return days === YEAR_DAYS ? 'un año' : `${days / YEAR_DAYS} años`
}

/**
 * Returns the privacy notice for the recipient's location. The page that asks for the location shows it.
 * @param days days that locations are kept after the guide ends
 */
export const placePrivacy = (days: number) =>
  `Lo usamos solo para entregarle; se borra ${describePeriod(days)} después de terminar el envío.`

/**
 * Returns the privacy notice for the notes and photos that the courier takes at the door. The courier's page shows it.
 * @param days days that proofs are kept after the delivery
 */
export const pruebaPrivacy = (days: number) =>
  `Se usa solo como prueba de esta entrega; se borra ${describePeriod(days)} después.`
