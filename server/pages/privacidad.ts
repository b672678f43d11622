const ANIO = 365

/** Returns a period in words: «un año», «90 días». */
function plazo(dias: number): string {
  if (dias % ANIO !== 0) return dias === 1 ? 'un día' : `${dias} días`
  return dias === ANIO ? 'un año' : `${dias / ANIO} años`
}

/**
 * Returns the privacy notice for the recipient's location. The page that asks for the location shows it.
 * @param dias days that locations are kept after the guide ends
 */
export const privacidadDelLugar = (dias: number) =>
  `Lo usamos solo para entregarle; se borra ${plazo(dias)} después de terminar el envío.`

/**
 * Returns the privacy notice for the notes and photos that the courier takes at the door. The courier's page shows it.
 * @param dias days that proofs are kept after the delivery
 */
export const privacidadDeLaPrueba = (dias: number) =>
  `Se usa solo como prueba de esta entrega; se borra ${plazo(dias)} después.`
