import type { Solicitudes } from '../../ubicacion/solicitud.ts'
import type { Hoja } from '../pagina.ts'
import { type Falla, type Formulario, interpretar, type Valores, valoresDe } from './formulario.ts'
import {
  CERRADA,
  DESCONOCIDA,
  type Mapa,
  paginaDeGracias,
  paginaDelFormulario,
  paginaDeSeguro,
  VENCIDA,
} from './vista.ts'

const VACIO: Valores = { lat: '', lng: '', precision_m: '', metodo: '', enlace: '', referencia: '' }

/** Where in the form each refusal is put right. */
const CAMPO_DE = {
  sin_lugar: 'lugar',
  coordenadas_invalidas: 'lugar',
  enlace_invalido: 'enlace',
  referencia_larga: 'referencia',
} as const

/**
 * The pages that a recipient's link shows (`ver`), and that answer the form which is sent from there (`recibir`).
 * @param mapaDe the map, given the way up to where the service begins; null when none is offered
 */
export function crearHojas(solicitudes: Solicitudes, mapaDe: (raiz: string) => Mapa | null) {
  const ver = async (token: string, raiz: string, llenado?: Valores, fallas: readonly Falla[] = []): Promise<Hoja> => {
    const datos = await solicitudes.leer(token)
    if (!datos) return { status: 404, ...DESCONOCIDA }
    if (datos.estado === 'vencida') return { status: 410, ...VENCIDA }
    if (datos.estado === 'cerrada') return { status: 200, ...CERRADA }
    if (datos.estado === 'confirmada') return { status: 200, ...paginaDeGracias(datos) }
    const contenido = paginaDelFormulario(datos, llenado ?? VACIO, fallas, mapaDe(raiz), llenado === undefined)
    return { status: fallas.length > 0 ? 422 : 200, ...contenido }
  }
  const recibir = async (token: string, raiz: string, formulario: Formulario): Promise<Hoja> => {
    const valores = valoresDe(formulario)
    if (formulario.accion === 'corregir') return ver(token, raiz, valores)
    const { lugar, fallas } = interpretar(formulario)
    if (!lugar) return ver(token, raiz, valores, fallas)
    const resultado = await solicitudes.confirmar(token, lugar)
    if (resultado.ok) return { status: 303, a: token }
    if (resultado.motivo === 'lejos') {
      const datos = await solicitudes.leer(token)
      return datos
        ? { status: 422, ...paginaDeSeguro(datos, valores, resultado.distancia_km) }
        : { status: 404, ...DESCONOCIDA }
    }
    // It is over or nobody's: the link itself says so.
    if (!('mensaje' in resultado)) return ver(token, raiz)
    return ver(token, raiz, valores, [{ campo: CAMPO_DE[resultado.motivo], mensaje: resultado.mensaje }])
  }
  return { ver, recibir }
}
