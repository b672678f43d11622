import { readFile } from 'node:fs/promises'
import { guardarArchivo } from '../archivos/archivo.ts'
import { centroDe } from '../catalogo/catalogo.ts'
import { RAIZ } from '../contrato/raiz.ts'
import type { Deps } from '../deps.ts'
import type { FilaGuia } from '../guias/guia.ts'
import type { Evidencia } from '../pruebasEntrega/prueba.ts'

type DepsDeMuestra = Pick<Deps, 'db' | 'almacen' | 'reloj'>

/** The pictures of `muestras/`: each says that it is one. */
const MUESTRAS = {
  foto: { nombre: 'foto.jpg', mime: 'image/jpeg', ancho: 1_280, alto: 960 },
  firma: { nombre: 'firma.png', mime: 'image/png', ancho: 800, alto: 300 },
} as const

/** Keeps a sample of the guide's, as an upload would; what no step takes is swept like any upload. */
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

export const fotoDeMuestra = (deps: DepsDeMuestra, guia: FilaGuia, cuando: Date): Promise<string> =>
  guardarMuestra(deps, guia, 'foto', cuando)

/** Some eleven metres, in degrees of latitude. */
const CERCA = 0.0001

/** What a courier would bring from the door of a test guide: always the same, near the confirmed place. */
export async function evidenciaDeMuestra(deps: DepsDeMuestra, guia: FilaGuia, cuando: Date): Promise<Evidencia> {
  return {
    recibido_por: { nombre: 'Persona de prueba', relacion: 'destinatario' },
    fotos: [await fotoDeMuestra(deps, guia, cuando)],
    firma: await guardarMuestra(deps, guia, 'firma'),
    ...posicionDe(guia),
  }
}

/** Without a known place, the middle of the municipality; of one that isn't in the catalogue, nowhere. */
function posicionDe(guia: FilaGuia): Pick<Evidencia, 'lat' | 'lng' | 'precision_m'> {
  const { ubicacion_lat: lat, ubicacion_lng: lng, departamento, municipio } = guia
  const lugar = lat === null || lng === null ? centroDe(departamento, municipio) : { lat, lng }
  // Towards the equator: there is no latitude beyond a pole.
  return lugar ? { lat: lugar.lat - Math.sign(lugar.lat) * CERCA, lng: lugar.lng, precision_m: 8 } : {}
}
