// List of guides: its rows and their order.
import type { AvanceDelDia } from '../../../generated/contract/types/index.ts'
import { normalizeBase32 } from '../../../platform/codes/guideCode.ts'
import { distanceBetween, type Point } from '../../../platform/maps/point.ts'
import { DAY_MS } from '../../../platform/time/units.ts'
import { type Prediction, predict } from './expected.ts'
import { type Heading, headingOf } from './heading.ts'
import { inStopOrder, partOfStop } from './stops.ts'
import type { AssignedGuias, CourierAction, StoredGuia } from './store/base.ts'
import { foldText } from './texts.ts'
import { ESTADO_NAMES, type Estado, type Motivo, takesParcel } from './vocabulary.ts'

/** Row of the list: a guide on the phone, its prediction and its texts. */
export interface DispatchRow extends StoredGuia, Prediction {
  heading: Heading | null
  titulo: string
  /** Words by which the courier finds the guide, in lower case and without accents. */
  texto: string
  /** Reason of the last failed attempt that was reported on this phone; null if it knows none. */
  motivo: Motivo | null
  /**
   * Distance in metres from the phone, or else from the point at which the way begins. Null if neither is known, or for
   * a guide without a known place.
   */
  distance: number | null
}
/** Search and filters of the search screen. They outlive it, so that a courier who returns finds the list unchanged. */
export const searchView = {
  searchText: '',
  estado: null as Estado | null,
  /** Guide that was opened last. The list continues at this guide. */
  ultima: null as string | null,
}

const collator = new Intl.Collator('es', { numeric: true, sensitivity: 'base' })

/**
 * Returns the rows of the list, in the order of the stops (`stops.ts`).
 * @param from point at which the way begins; null if none is known
 * @param here point from which the distances are measured; null if none is known
 */
export function dispatchRows(
  guias: readonly StoredGuia[],
  actions: readonly CourierAction[],
  from: Point | null = null,
  here: Point | null = from,
): DispatchRow[] {
  const actionsByGuia = new Map<string, CourierAction[]>()
  for (const item of actions) actionsByGuia.set(item.guia, [...(actionsByGuia.get(item.guia) ?? []), item])
  const byAddress = guias
    .map((item) => toDispatchRow(item, actionsByGuia.get(item.guia) ?? [], here))
    .sort(
      (item, other) =>
        collator.compare(item.datos?.municipio ?? '', other.datos?.municipio ?? '') ||
        collator.compare(item.heading?.direccion ?? '', other.heading?.direccion ?? '') ||
        collator.compare(item.guia, other.guia),
    )
  return inStopOrder(byAddress, from, localDayOf(Date.now()))
}

/** Returns the day of an instant by the phone's calendar: «2026-11-25». */
export const localDayOf = (now: number) =>
  new Date(now - new Date(now).getTimezoneOffset() * 60_000).toISOString().slice(0, '2026-11-25'.length)

function toDispatchRow(guia: StoredGuia, actions: readonly CourierAction[], here: Point | null): DispatchRow {
  const prediction = predict(guia, actions)
  const heading = headingOf(guia.datos, prediction.estado)
  const titulo = titleOf(guia, prediction, heading)
  const { nombre_comercio, destinatario, contenido, external_ref } = guia.datos ?? {}
  const searchableTexts = [
    guia.guia,
    titulo,
    heading?.direccion,
    nombre_comercio,
    destinatario,
    contenido,
    external_ref,
  ]
  const texto = foldText(` ${searchableTexts.filter(Boolean).join(' ')}`)
  const attempt = actions.findLast(({ estado }) => estado === 'intento_fallido')
  return {
    ...guia,
    ...prediction,
    heading,
    titulo,
    texto,
    motivo: attempt?.evento?.motivo ?? null,
    distance: here && heading && distanceBetween(here, heading.lugar),
  }
}

function titleOf(
  { datos, isUnknown, isUnassigned }: StoredGuia,
  { estado, final }: Prediction,
  heading: Heading | null,
): string {
  if (!datos) return isUnknown ? 'No existe' : isUnassigned ? 'No la tiene asignada' : 'Sin datos todavía'
  if (final && estado)
    return datos.nombre_comercio ? `${ESTADO_NAMES[estado]}: ${datos.nombre_comercio}` : ESTADO_NAMES[estado]
  if (datos.custodia === 'ajena') return 'La lleva otro'
  return heading?.nombre ?? heading?.direccion ?? datos.nombre_comercio ?? datos.municipio ?? ESTADO_NAMES[datos.estado]
}

/** Assigned guides that lie together: of one municipality, or with one courier. */
export interface AssignedGroup {
  titulo: string
  guias: readonly string[]
}

/**
 * Groups the guides that are assigned to a courier: those that another courier carries by that courier's name, the others
 * by municipality. Leaves out guides that the courier has taken on
 * this phone since the server's last list.
 */
export function groupAssigned(
  asignadas: AssignedGuias | undefined,
  actions: readonly CourierAction[],
): AssignedGroup[] {
  const { guias, readAt } = asignadas ?? { guias: [], readAt: 0 }
  const takenGuias = new Set(
    actions
      .filter(
        ({ estado, status, terminada }) =>
          takesParcel(estado) && (status === 'pendiente' || (terminada !== null && terminada > readAt)),
      )
      .map(({ guia }) => guia),
  )
  const groups = new Map<string, string[]>()
  for (const { guia, municipio, la_lleva } of guias) {
    const titulo = la_lleva ? `Los lleva ${la_lleva}` : (municipio ?? 'Sin municipio')
    if (!takenGuias.has(guia)) groups.set(titulo, [...(groups.get(titulo) ?? []), guia])
  }
  return [...groups].map(([titulo, guias]) => ({ titulo, guias }))
}

/** Tells whether the courier carries a guide, as far as the phone knows. */
export const isCarried = ({ datos, isOwn, final }: DispatchRow) => datos !== null && isOwn && !final

/**
 * Returns the rows that match a search: every typed word begins a word of the row, or the typed text is part of the
 * row's code. The code is compared without blanks and hyphens, from 4 characters on. Both rules always apply, because a
 * typed text without a digit may be a code too: 1 code in 14 has no digit in its first 7 characters. A telephone is
 * found by at least 4 of its digits, in any spelling.
 */
export function find(rows: readonly DispatchRow[], searchText: string): readonly DispatchRow[] {
  const words = foldText(searchText).split(/\s+/).filter(Boolean)
  const code = normalizeBase32(searchText)
  const digits = telephoneDigits(searchText)
  return rows.filter(
    ({ texto, guia, heading }) =>
      words.every((word) => texto.includes(` ${word}`)) ||
      (code.length >= MIN_SEARCHED && guia.includes(code)) ||
      (digits.length >= MIN_SEARCHED && heading?.telefono?.includes(digits)),
  )
}
/** Minimum number of characters of a code or a telephone that find a guide. */
const MIN_SEARCHED = 4

/** Returns the digits of a typed telephone, without the prefix of international calls; empty for any other text. */
const telephoneDigits = (searchText: string) =>
  /^[\d\s+().-]+$/.test(searchText) ? searchText.replace(/\D/g, '').replace(/^00/, '') : ''

/** Returns the part of the list to which a guide belongs; null if the guide can be delivered or collected now. */
export const partToday = (row: DispatchRow) => partOfStop(row, localDayOf(Date.now()))

/**
 * Returns the next stop: the first guide that can be handled now and that the courier carries, or else the first to
 * collect.
 */
export function findNextStop(rows: readonly DispatchRow[]): DispatchRow | undefined {
  const stops = rows.filter((row) => row.heading !== null && partToday(row) === null)
  return stops.find(isCarried) ?? stops[0]
}

/** Counts guides by state, in the order of the state machine. */
export function countEstados(rows: readonly DispatchRow[]): [Estado, number][] {
  const counts = new Map<Estado, number>()
  for (const { estado } of rows) if (estado) counts.set(estado, (counts.get(estado) ?? 0) + 1)
  return (Object.keys(ESTADO_NAMES) as Estado[]).flatMap((estado) => {
    const n = counts.get(estado)
    return n ? [[estado, n] as [Estado, number]] : []
  })
}

/**
 * Counts the guides that a courier delivered or returned today: those that the server knows, from any phone, and those
 * that were not sent yet. If the server has not reported today, counts the last 24 hours.
 * @param now milliseconds since the epoch, by the server's clock
 */
export function terminadas(
  actions: readonly CourierAction[],
  repartidor: string,
  today: AvanceDelDia | undefined,
  now: number,
): number {
  const from = today ? Date.parse(today.desde) : 0
  const isRecent = from > now - DAY_MS
  const finishedOnPhone = actions.flatMap(({ estado, status, guia, repartidor: author, ocurrido_en }) =>
    author === repartidor &&
    status !== 'atencion' &&
    (estado === 'entregado' || estado === 'devuelto') &&
    Date.parse(ocurrido_en) >= (isRecent ? from : now - DAY_MS)
      ? [guia]
      : [],
  )
  return new Set([...(isRecent ? today!.terminadas : []), ...finishedOnPhone]).size
}

/** Returns a distance as text: «350 m», «1.2 km». */
export const formatDistance = (m: number) =>
  m < 1_000 ? `${Math.round(m / 10) * 10} m` : `${(m / 1_000).toFixed(m < 10_000 ? 1 : 0)} km`
