const ANIO = 365

/** A time as people say it: «un año», «90 días». */
function plazo(dias: number): string {
  if (dias % ANIO !== 0) return dias === 1 ? 'un día' : `${dias} días`
  return dias === ANIO ? 'un año' : `${dias / ANIO} años`
}

/**
 * What becomes of the place that a recipient gives, for whoever is asked for it.
 * @param dias how long places are kept after a guide's end
 */
export const privacidadDelLugar = (dias: number) =>
  `Lo usamos solo para entregarle; se borra ${plazo(dias)} después de terminar el envío.`

/**
 * What becomes of what a courier writes down and photographs at the door, for whoever is asked for it.
 * @param dias how long proofs are kept after the delivery
 */
export const privacidadDeLaPrueba = (dias: number) =>
  `Se usa solo como prueba de esta entrega; se borra ${plazo(dias)} después.`
