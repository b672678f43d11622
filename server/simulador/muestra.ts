import { readFile } from 'node:fs/promises'
import { guardarArchivo } from '../archivos/archivo.ts'
import { centroDe } from '../catalogo/catalogo.ts'
import { RAIZ } from '../contrato/raiz.ts'
import type { Deps } from '../deps.ts'
import type { FilaGuia } from '../guias/guia.ts'
import type { Evidencia } from '../pruebasEntrega/prueba.ts'

type DepsDeMuestra = Pick<Deps, 'db' | 'almacen' | 'reloj'>

/** The sample pictures in `muestras/`, each of which says that it is one. */
const MUESTRAS = {
  foto: { nombre: 'foto.jpg', mime: 'image/jpeg', ancho: 1_280, alto: 960 },
  firma: { nombre: 'firma.png', mime: 'image/png', ancho: 800, alto: 300 },
} as const

/** Keeps a sample picture as the guide's, as an upload would; if no step takes it, it is swept like any upload. */
async function guardarMuestra(
  deps: DepsDeMuestra,
  guia: FilaGuia,
  tipo: keyof typeof MUESTRAS,
  capturado_en: Date | null = null,
): Promise<string> {
  const { nombre, ...imagen } = MUESTRAS[tipo]
  const contenido = await readFile(new URL(`server/simulador/muestras/${nombre}`, RAIZ))
  const datos = { ...imagen, contenido, tipo, capturado_en, lat: null, lng: null, autor: null, usado_en: null }
  return (await guardarArchivo(deps, guia, datos)).archivo
}

/** Keeps a sample photo as the guide's, and gives its name. */
export const fotoDeMuestra = (deps: DepsDeMuestra, guia: FilaGuia, cuando: Date): Promise<string> =>
  guardarMuestra(deps, guia, 'foto', cuando)

/** How far from its place a sample delivery is, in degrees of latitude: some eleven metres. */
const CERCA = 0.0001

/** The evidence that a courier would bring of a test guide's delivery: always the same, near the confirmed place. */
export async function evidenciaDeMuestra(deps: DepsDeMuestra, guia: FilaGuia, cuando: Date): Promise<Evidencia> {
  return {
    recibido_por: { nombre: 'Persona de prueba', relacion: 'destinatario' },
    fotos: [await fotoDeMuestra(deps, guia, cuando)],
    firma: await guardarMuestra(deps, guia, 'firma'),
    ...posicionDe(guia),
  }
}

/**
 * Where a sample delivery is: near the guide's place, or else the middle of its municipality, or nowhere if the catalogue
 * doesn't know that.
 */
function posicionDe(guia: FilaGuia): Pick<Evidencia, 'lat' | 'lng' | 'precision_m'> {
  const { ubicacion_lat: lat, ubicacion_lng: lng, departamento, municipio } = guia
  const lugar = lat === null || lng === null ? centroDe(departamento, municipio) : { lat, lng }
  // Towards the equator: there is no latitude beyond a pole.
  return lugar ? { lat: lugar.lat - Math.sign(lugar.lat) * CERCA, lng: lugar.lng, precision_m: 8 } : {}
}
