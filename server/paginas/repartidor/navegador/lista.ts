// The list of guides: what is shown of it, and in which order, which nothing but the courier changes.
import { normalizarBase32 } from '../../../codigos/codigoDeGuia.ts'
import { distanciaEntre } from '../../../mapas/punto.ts'
import type { Accion, GuiaGuardada } from './almacen/base.ts'
import { type Estado, NOMBRES } from './dominio.ts'
import { type Prevision, previsto } from './previsto.ts'
import { type Rumbo, rumboDe } from './rumbo.ts'
import { llano } from './textos.ts'

export interface Fila extends GuiaGuardada, Prevision {
  rumbo: Rumbo | null
  titulo: string
  /** The words by which the guide is found, without accents. */
  texto: string
  /** The metres from where the courier was when he asked; null until he does, and of a place that nobody knows. */
  distancia: number | null
}
export interface Aqui {
  lat: number
  lng: number
}

/** What the courier looks for; it outlives the screen, so that coming back finds the list as it was left. */
export const vista = {
  busca: '',
  estado: null as Estado | null,
  aqui: null as Aqui | null,
  /** The guide that was opened last, where the list goes on from. */
  ultima: null as string | null,
}

const orden = new Intl.Collator('es', { numeric: true, sensitivity: 'base' })

/** The guides at hand as the list shows them: nearest first once the courier asked for it, or else by where they go. */
export function filasDe(
  guias: readonly GuiaGuardada[],
  acciones: readonly Accion[],
  aqui: Aqui | null = vista.aqui,
): Fila[] {
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

function filaDe(guia: GuiaGuardada, acciones: readonly Accion[], aqui: Aqui | null): Fila {
  const prevision = previsto(guia, acciones)
  const rumbo = rumboDe(guia.datos, prevision.estado)
  const titulo = tituloDe(guia, prevision, rumbo)
  const dichos = [guia.guia, titulo, rumbo?.direccion, guia.datos?.nombre_comercio, guia.datos?.destinatario]
  const texto = llano(` ${dichos.filter(Boolean).join(' ')}`)
  return { ...guia, ...prevision, rumbo, titulo, texto, distancia: aqui && rumbo && distanciaEntre(aqui, rumbo.lugar) }
}

function tituloDe({ datos, desconocida }: GuiaGuardada, { estado, final }: Prevision, rumbo: Rumbo | null): string {
  if (!datos) return desconocida ? 'No existe' : 'Sin datos todavía'
  if (final && estado) return datos.nombre_comercio ? `${NOMBRES[estado]}: ${datos.nombre_comercio}` : NOMBRES[estado]
  if (datos.custodia === 'ajena') return 'La lleva otro'
  return rumbo?.nombre ?? rumbo?.direccion ?? datos.nombre_comercio ?? NOMBRES[datos.estado]
}

/** Whether the courier carries a guide, as far as the phone can say. */
export const esSuya = ({ datos, suya, final }: Fila) => datos !== null && suya && !final

/**
 * Those whose words begin as each word that was typed, or whose code has it with whatever blanks and hyphens: seven
 * characters of a code are letters alone once in fourteen times.
 */
export function buscar(filas: readonly Fila[], busca: string): readonly Fila[] {
  const palabras = llano(busca).split(/\s+/).filter(Boolean)
  const codigo = normalizarBase32(busca)
  return filas.filter(
    ({ texto, guia }) =>
      palabras.every((palabra) => texto.includes(` ${palabra}`)) || (codigo.length >= 4 && guia.includes(codigo)),
  )
}

/** The states of these guides and how many there are of each, in the machine's order. */
export function contarEstados(filas: readonly Fila[]): [Estado, number][] {
  const cuantas = new Map<Estado, number>()
  for (const { estado } of filas) if (estado) cuantas.set(estado, (cuantas.get(estado) ?? 0) + 1)
  return (Object.keys(NOMBRES) as Estado[]).flatMap((estado) => {
    const n = cuantas.get(estado)
    return n ? [[estado, n] as [Estado, number]] : []
  })
}

/** How many guides that courier is done with, delivered or given back, as far as his phone remembers: a day. */
export const terminadas = (acciones: readonly Accion[], repartidor: string) =>
  new Set(
    acciones.flatMap(({ estado, situacion, guia, repartidor: suyo }) =>
      suyo === repartidor && situacion !== 'atencion' && (estado === 'entregado' || estado === 'devuelto')
        ? [guia]
        : [],
    ),
  ).size

export const metros = (m: number) =>
  m < 1_000 ? `${Math.round(m / 10) * 10} m` : `${(m / 1_000).toFixed(m < 10_000 ? 1 : 0).replace('.', ',')} km`
