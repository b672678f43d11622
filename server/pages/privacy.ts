const YEAR_DAYS = 365

/** Returns a period in words: «un año», «90 días». */
function describePeriod(dias: number): string {
  if (dias % YEAR_DAYS !== 0) return dias === 1 ? 'un día' : `${dias} días`
  return dias === YEAR_DAYS ? 'un año' : `${dias / YEAR_DAYS} años`
}

/**
 * Returns the privacy notice for the recipient's location. The page that asks for the location shows it.
 * @param dias days that locations are kept after the guide ends
 */
export const placePrivacy = (dias: number) =>
  `Lo usamos solo para entregarle; se borra ${describePeriod(dias)} después de terminar el envío.`

/**
 * Returns the privacy notice for the notes and photos that the courier takes at the door. The courier's page shows it.
 * @param dias days that proofs are kept after the delivery
 */
export const pruebaPrivacy = (dias: number) =>
  `Se usa solo como prueba de esta entrega; se borra ${describePeriod(dias)} después.`
