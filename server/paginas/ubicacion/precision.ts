/** A position that is exact to more metres than that names a neighbourhood and not a door. */
export const IMPRECISA_M = 200

/** The fewest letters in which a place can be described. */
export const MINIMO_DE_DESCRIPCION = 12
export const DESCRIPCION_CORTA = 'Describa el lugar con más detalle: cómo llegar y cómo se ve.'

/** How far, as people say it. */
export const enMetros = (metros: number) =>
  metros < 950
    ? `${Math.max(1, metros < 20 ? Math.round(metros) : Math.round(metros / 10) * 10)} metros`
    : `${(metros / 1000).toFixed(1)} km`

/** What a position that is too inexact asks for. */
export const pedirPin = (metros: number, conMapa = true) =>
  `Esta posición puede fallar por ${enMetros(metros)}. ${conMapa ? 'Mueva el pin hasta su puerta' : 'Diga el lugar de otra forma'} o, si está bien, márquelo.`
