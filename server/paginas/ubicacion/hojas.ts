import type { Limite } from '../../limites/cubos.ts'
import type { Solicitudes } from '../../ubicacion/solicitud.ts'
import type { Hoja } from '../pagina.ts'
import {
  AGOTADA,
  CERRADA,
  DESCONOCIDA,
  OTRO_AGOTADO,
  paginaDeGracias,
  paginaDeOtroEnlace,
  paginaDeSeguro,
  VENCIDA,
} from './despues.ts'
import { type Falla, type Formulario, interpretar, type Valores, valoresDe } from './formulario.ts'
import { type Mapa, paginaDelFormulario } from './vista.ts'

const VACIO: Valores = {
  ...{ lat: '', lng: '', precision_m: '', metodo: '', enlace: '', referencia: '' },
  ...{ aproximado: '', cambiar: '' },
}

/** Where in the form each refusal is put right. */
const CAMPO_DE = {
  sin_lugar: 'lugar',
  coordenadas_invalidas: 'lugar',
  enlace_invalido: 'enlace',
  referencia_larga: 'referencia',
} as const

/** A recipient's link, as it was opened. */
interface Abierto {
  token: string
  /** The way up to where the service begins. */
  raiz: string
  red: string
}

interface OpcionesDeHojas {
  /** The map, given the way up to where the service begins; null when none is offered. */
  mapaDe: (raiz: string) => Mapa | null
  /** How many other links a network may ask for. */
  porOtro: Limite
}

/** The pages that a recipient's link shows (`ver`), and that answer the form which is sent from there (`recibir`). */
export function crearHojas(solicitudes: Solicitudes, { mapaDe, porOtro }: OpcionesDeHojas) {
  const ver = async (
    { token, raiz }: Abierto,
    llenado: Partial<Valores> = {},
    fallas: readonly Falla[] = [],
  ): Promise<Hoja> => {
    const datos = await solicitudes.leer(token)
    if (!datos) return { status: 404, ...DESCONOCIDA }
    if (datos.estado === 'vencida') return { status: 410, ...VENCIDA }
    if (datos.estado === 'cerrada') return { status: 200, ...CERRADA }
    const cambiar = llenado.cambiar === '1'
    if (datos.estado === 'confirmada' && !(cambiar && datos.corregible))
      return { status: 200, ...paginaDeGracias(datos, raiz, cambiar) }
    const nuevo = llenado.metodo === undefined
    const referencia = nuevo ? (datos.confirmado?.referencia ?? '') : ''
    const valores = { ...VACIO, referencia, ...llenado }
    const contenido = paginaDelFormulario(datos, { valores, fallas, mapa: mapaDe(raiz), nuevo })
    return { status: fallas.length > 0 ? 422 : 200, ...contenido }
  }
  const pedirOtro = async (abierto: Abierto): Promise<Hoja> => {
    if (porOtro(abierto.red) > 0) return { status: 429, ...OTRO_AGOTADO }
    const resultado = await solicitudes.pedirOtro(abierto.token)
    if (resultado.ok) return { status: 200, ...paginaDeOtroEnlace(resultado) }
    return resultado.motivo === 'agotada' ? { status: 429, ...OTRO_AGOTADO } : ver(abierto)
  }
  const recibir = async (abierto: Abierto, formulario: Formulario): Promise<Hoja> => {
    const { token } = abierto
    const valores = valoresDe(formulario)
    if (formulario.accion === 'otro') return pedirOtro(abierto)
    if (formulario.accion === 'corregir') return ver(abierto, valores)
    const { lugar, fallas } = interpretar(formulario)
    if (!lugar) return ver(abierto, valores, fallas)
    const resultado = await solicitudes.confirmar(token, lugar)
    if (resultado.ok) return { status: 303, a: token }
    if (resultado.motivo === 'agotada') return { status: 409, ...AGOTADA }
    if (resultado.motivo === 'lejos') {
      const datos = await solicitudes.leer(token)
      return datos
        ? { status: 422, ...paginaDeSeguro(datos, valores, resultado.distancia_km) }
        : { status: 404, ...DESCONOCIDA }
    }
    // It is over or nobody's: the link itself says so.
    if (!('mensaje' in resultado)) return ver(abierto, { cambiar: valores.cambiar })
    return ver(abierto, valores, [{ campo: CAMPO_DE[resultado.motivo], mensaje: resultado.mensaje }])
  }
  return { ver, recibir }
}
