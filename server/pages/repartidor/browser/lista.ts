// List of guides: its rows and their order. Only the courier changes the order.
import type { AvanceDelDia } from '../../../generado/contrato/tipos/index.ts'
import { normalizeBase32 } from '../../../platform/codes/guideCode.ts'
import { distanceBetween } from '../../../platform/maps/point.ts'
import { type Estado, NOMBRES } from './dominio.ts'
import { type Prevision, previsto } from './previsto.ts'
import { type Rumbo, rumboDe } from './rumbo.ts'
import type { Accion, GuiaGuardada } from './store/base.ts'
import { llano } from './textos.ts'

/** Row of the list: a guide on the phone, its prediction and its texts. */
export interface FilaDeReparto extends GuiaGuardada, Prevision {
  rumbo: Rumbo | null
  titulo: string
  /** Words by which the courier finds the guide, in lower case and without accents. */
  texto: string
  /** Metres from the courier's position at the last request; null before the first request and for an unknown place. */
  distancia: number | null
}
/** Position of the courier. */
export interface Aqui {
  lat: number
  lng: number
}

/** Search and filters of the list. They outlive the screen, so that a courier who returns finds the list unchanged. */
export const vista = {
  busca: '',
  estado: null as Estado | null,
  aqui: null as Aqui | null,
  /** Guide that was opened last. The list continues at this guide. */
  ultima: null as string | null,
}

const orden = new Intl.Collator('es', { numeric: true, sensitivity: 'base' })

/**
 * Returns the rows of the list. Finished guides are last; the others are in order of distance if the courier's position
 * is known, then by municipality and address.
 */
export function filasDeReparto(
  guias: readonly GuiaGuardada[],
  acciones: readonly Accion[],
  aqui: Aqui | null = vista.aqui,
): FilaDeReparto[] {
  const porGuia = new Map<string, Accion[]>()
  for (const una of acciones) porGuia.set(una.guia, [...(porGuia.get(una.guia) ?? []), una])
  return guias
    .map((una) => filaDe(una, porGuia.get(una.guia) ?? [], aqui))
    .sort(
      (una, otra) =>
        Number(una.final) - Number(otra.final) ||
        (una.distancia ?? Number.POSITIVE_INFINITY) - (otra.distancia ?? Number.POSITIVE_INFINITY) ||
        orden.compare(una.datos?.municipio ?? '', otra.datos?.municipio ?? '') ||
        orden.compare(una.rumbo?.direccion ?? '', otra.rumbo?.direccion ?? '') ||
        orden.compare(una.guia, otra.guia),
    )
}

function filaDe(guia: GuiaGuardada, acciones: readonly Accion[], aqui: Aqui | null): FilaDeReparto {
  const prevision = previsto(guia, acciones)
  const rumbo = rumboDe(guia.datos, prevision.estado)
  const titulo = tituloDe(guia, prevision, rumbo)
  const dichos = [guia.guia, titulo, rumbo?.direccion, guia.datos?.nombre_comercio, guia.datos?.destinatario]
  const texto = llano(` ${dichos.filter(Boolean).join(' ')}`)
  return { ...guia, ...prevision, rumbo, titulo, texto, distancia: aqui && rumbo && distanceBetween(aqui, rumbo.lugar) }
}

function tituloDe({ datos, desconocida }: GuiaGuardada, { estado, final }: Prevision, rumbo: Rumbo | null): string {
  if (!datos) return desconocida ? 'No existe' : 'Sin datos todavía'
  if (final && estado) return datos.nombre_comercio ? `${NOMBRES[estado]}: ${datos.nombre_comercio}` : NOMBRES[estado]
  if (datos.custodia === 'ajena') return 'La lleva otro'
  return rumbo?.nombre ?? rumbo?.direccion ?? datos.nombre_comercio ?? NOMBRES[datos.estado]
}

/** Tells whether the courier carries a guide, as far as the phone knows. */
export const esSuya = ({ datos, suya, final }: FilaDeReparto) => datos !== null && suya && !final

/**
 * Returns the rows that match a search: every typed word begins a word of the row, or the typed text is part of the
 * row's code. The code is compared without blanks and hyphens, from 4 characters on. Both rules always apply, because a
 * typed text without a digit may be a code too: 1 code in 14 has no digit in its first 7 characters.
 */
export function buscar(filas: readonly FilaDeReparto[], busca: string): readonly FilaDeReparto[] {
  const palabras = llano(busca).split(/\s+/).filter(Boolean)
  const codigo = normalizeBase32(busca)
  return filas.filter(
    ({ texto, guia }) =>
      palabras.every((palabra) => texto.includes(` ${palabra}`)) || (codigo.length >= 4 && guia.includes(codigo)),
  )
}

/** Counts guides by state, in the order of the state machine. */
export function contarEstados(filas: readonly FilaDeReparto[]): [Estado, number][] {
  const cuantas = new Map<Estado, number>()
  for (const { estado } of filas) if (estado) cuantas.set(estado, (cuantas.get(estado) ?? 0) + 1)
  return (Object.keys(NOMBRES) as Estado[]).flatMap((estado) => {
    const n = cuantas.get(estado)
    return n ? [[estado, n] as [Estado, number]] : []
  })
}

const DIA_MS = 24 * 3_600_000

/**
 * Counts the guides that a courier delivered or returned today: those that the server knows, from any phone, and those
 * that only this phone knows yet. Without word from the server of this day, the last 24 hours count.
 * @param ahora milliseconds since the epoch, by the server's clock
 */
export function terminadas(
  acciones: readonly Accion[],
  repartidor: string,
  hoy: AvanceDelDia | undefined,
  ahora: number,
): number {
  const desde = hoy ? Date.parse(hoy.desde) : 0
  const esDeHoy = desde > ahora - DIA_MS
  const aqui = acciones.flatMap(({ estado, situacion, guia, repartidor: suyo, ocurrido_en }) =>
    suyo === repartidor &&
    situacion !== 'atencion' &&
    (estado === 'entregado' || estado === 'devuelto') &&
    Date.parse(ocurrido_en) >= (esDeHoy ? desde : ahora - DIA_MS)
      ? [guia]
      : [],
  )
  return new Set([...(esDeHoy ? hoy!.terminadas : []), ...aqui]).size
}

/** Returns a distance as text: «350 m», «1,2 km». */
export const metros = (m: number) =>
  m < 1_000 ? `${Math.round(m / 10) * 10} m` : `${(m / 1_000).toFixed(m < 10_000 ? 1 : 0).replace('.', ',')} km`
