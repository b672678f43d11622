// List of guides: its rows and their order.
import type { AvanceDelDia } from '../../../generado/contrato/tipos/index.ts'
import { normalizeBase32 } from '../../../platform/codes/guideCode.ts'
import { distanceBetween, type Point } from '../../../platform/maps/point.ts'
import { type Estado, NOMBRES, tomaElPaquete } from './dominio.ts'
import { aparte, enOrdenDeParadas } from './paradas.ts'
import { type Prevision, previsto } from './previsto.ts'
import { type Rumbo, rumboDe } from './rumbo.ts'
import type { Accion, Asignadas, GuiaGuardada } from './store/base.ts'
import { llano } from './textos.ts'

/** Row of the list: a guide on the phone, its prediction and its texts. */
export interface FilaDeReparto extends GuiaGuardada, Prevision {
  rumbo: Rumbo | null
  titulo: string
  /** Words by which the courier finds the guide, in lower case and without accents. */
  texto: string
  /**
   * Distance in metres from the phone, or else from the point at which the way begins. Null if neither is known, or for
   * a guide without a known place.
   */
  distancia: number | null
}
/** Search and filters of the search screen. They outlive it, so that a courier who returns finds the list unchanged. */
export const vista = {
  busca: '',
  estado: null as Estado | null,
  /** Guide that was opened last. The list continues at this guide. */
  ultima: null as string | null,
}

const orden = new Intl.Collator('es', { numeric: true, sensitivity: 'base' })

/**
 * Returns the rows of the list, in the order of the stops (`paradas.ts`).
 * @param desde point at which the way begins; null if none is known
 * @param aqui point from which the distances are measured; null if none is known
 */
export function filasDeReparto(
  guias: readonly GuiaGuardada[],
  acciones: readonly Accion[],
  desde: Point | null = null,
  aqui: Point | null = desde,
): FilaDeReparto[] {
  const porGuia = new Map<string, Accion[]>()
  for (const una of acciones) porGuia.set(una.guia, [...(porGuia.get(una.guia) ?? []), una])
  const porDireccion = guias
    .map((una) => filaDe(una, porGuia.get(una.guia) ?? [], aqui))
    .sort(
      (una, otra) =>
        orden.compare(una.datos?.municipio ?? '', otra.datos?.municipio ?? '') ||
        orden.compare(una.rumbo?.direccion ?? '', otra.rumbo?.direccion ?? '') ||
        orden.compare(una.guia, otra.guia),
    )
  return enOrdenDeParadas(porDireccion, desde, diaDe(Date.now()))
}

/** Returns the day of an instant by the phone's calendar: «2026-11-25». */
export const diaDe = (ahora: number) =>
  new Date(ahora - new Date(ahora).getTimezoneOffset() * 60_000).toISOString().slice(0, '2026-11-25'.length)

function filaDe(guia: GuiaGuardada, acciones: readonly Accion[], aqui: Point | null): FilaDeReparto {
  const prevision = previsto(guia, acciones)
  const rumbo = rumboDe(guia.datos, prevision.estado)
  const titulo = tituloDe(guia, prevision, rumbo)
  const dichos = [guia.guia, titulo, rumbo?.direccion, guia.datos?.nombre_comercio, guia.datos?.destinatario]
  const texto = llano(` ${dichos.filter(Boolean).join(' ')}`)
  return {
    ...guia,
    ...prevision,
    rumbo,
    titulo,
    texto,
    distancia: aqui && rumbo && distanceBetween(aqui, rumbo.lugar),
  }
}

function tituloDe(
  { datos, desconocida, sinAsignar }: GuiaGuardada,
  { estado, final }: Prevision,
  rumbo: Rumbo | null,
): string {
  if (!datos) return desconocida ? 'No existe' : sinAsignar ? 'No la tiene asignada' : 'Sin datos todavía'
  if (final && estado) return datos.nombre_comercio ? `${NOMBRES[estado]}: ${datos.nombre_comercio}` : NOMBRES[estado]
  if (datos.custodia === 'ajena') return 'La lleva otro'
  return rumbo?.nombre ?? rumbo?.direccion ?? datos.nombre_comercio ?? datos.municipio ?? NOMBRES[datos.estado]
}

/** Guides of one municipality. */
export interface DelMunicipio {
  municipio: string
  guias: readonly string[]
}

/**
 * Groups the guides that are assigned to a courier by municipality. Leaves out guides that the courier has taken on
 * this phone since the server's last list.
 */
export function porMunicipio(asignadas: Asignadas | undefined, acciones: readonly Accion[]): DelMunicipio[] {
  const { guias, leida } = asignadas ?? { guias: [], leida: 0 }
  const tomadas = new Set(
    acciones
      .filter(
        ({ estado, situacion, terminada }) =>
          tomaElPaquete(estado) && (situacion === 'pendiente' || (terminada !== null && terminada > leida)),
      )
      .map(({ guia }) => guia),
  )
  const grupos = new Map<string, string[]>()
  for (const { guia, municipio } of guias) {
    const donde = municipio ?? 'Sin municipio'
    if (!tomadas.has(guia)) grupos.set(donde, [...(grupos.get(donde) ?? []), guia])
  }
  return [...grupos].map(([municipio, guias]) => ({ municipio, guias }))
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

/** Returns the part of the list to which a guide belongs; null if the guide can be delivered or collected now. */
export const aparteHoy = (fila: FilaDeReparto) => aparte(fila, diaDe(Date.now()))

/**
 * Returns the next stop: the first guide that can be handled now and that the courier carries, or else the first to
 * collect.
 */
export function siguienteParada(filas: readonly FilaDeReparto[]): FilaDeReparto | undefined {
  const paradas = filas.filter((fila) => fila.rumbo !== null && aparteHoy(fila) === null)
  return paradas.find(esSuya) ?? paradas[0]
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
 * that were not sent yet. If the server has not reported today, counts the last 24 hours.
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
