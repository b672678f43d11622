const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/
const DIAS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** UTC as PostgreSQL writes it, as text or in JSON: without the zeros at the end of the second. */
const DE_POSTGRES = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,3})?\+00(?::00)?$/

/** Index in such a text of what follows the date, the seconds, and the point. */
const [TRAS_FECHA, TRAS_SEGUNDOS, TRAS_PUNTO] = [10, 19, 20]
/** Ends of an instant by the number of digits behind its point. */
const FINALES = ['000Z', '00Z', '0Z', 'Z']

/**
 * An instant as answers have it. The text of one is cut and not read: a page of fifty events has a hundred, and a Date takes
 * ten times as long.
 */
export function iso(instante: Date | string): string {
  if (typeof instante !== 'string' || !DE_POSTGRES.test(instante)) return new Date(instante).toISOString()
  const fin = instante.indexOf('+', TRAS_SEGUNDOS)
  const fecha = instante.slice(0, TRAS_FECHA)
  if (fin === TRAS_SEGUNDOS) return `${fecha}T${instante.slice(TRAS_FECHA + 1, fin)}.${FINALES[0]}`
  return `${fecha}T${instante.slice(TRAS_FECHA + 1, fin)}${FINALES[fin - TRAS_PUNTO]}`
}

/** An instant (RFC 3339) as Date; undefined if it isn't one. A leap second counts as the second before it. */
export function leerInstante(texto: string): Date | undefined {
  const partes = RFC3339.exec(texto)
  if (!partes) return undefined
  const [ano, mes, dia] = [Number(partes[1]), Number(partes[2]), Number(partes[3])]
  const bisiesto = mes === 2 && ano % 4 === 0 && (ano % 100 !== 0 || ano % 400 === 0)
  if (mes < 1 || mes > 12 || dia < 1 || dia > DIAS[mes - 1]! + (bisiesto ? 1 : 0)) return undefined
  const instante = new Date(texto.toUpperCase().replace(/:60(?=[.Z+-])/, ':59'))
  // In UTC, too, it must be an instant that RFC 3339 can write, and after computers began to count.
  const ms = instante.getTime()
  return ms >= 0 && ms <= Date.UTC(9999, 11, 31, 23, 59, 59, 999) ? instante : undefined
}
