import type { Limit } from '../../api/limits/buckets.ts'
import type { Solicitudes } from '../../domain/ubicacion/solicitud.ts'
import type { Sheet } from '../page.ts'
import {
  AGOTADA,
  CERRADA,
  OTRO_AGOTADO,
  paginaDeGracias,
  paginaDeLectura,
  paginaDeOtroEnlace,
  paginaDePalabras,
  paginaDeSeguro,
  SOLICITUD_DESCONOCIDA,
  VENCIDA,
} from './despues.ts'
import {
  type FieldFault,
  type Formulario,
  type FormValues,
  interpretarFormulario,
  REFERENCIA_LARGA,
  referenciaLarga,
  valoresDe,
} from './formulario.ts'
import type { DatosDelMapa } from './mosaicos.ts'
import { paginaDelFormulario } from './view.ts'

const VACIO: FormValues = {
  lat: '',
  lng: '',
  precision_m: '',
  metodo: '',
  enlace: '',
  referencia: '',
  aproximado: '',
  cambiar: '',
}

/** Part of the form in which the recipient corrects each kind of refusal. */
const CAMPO_DE = {
  sin_lugar: 'lugar',
  coordenadas_invalidas: 'lugar',
  enlace_invalido: 'enlace',
  referencia_larga: 'referencia',
} as const

/** Fault of the form if the service could not read the link that was given earlier. */
const ENLACE_SIN_LUGAR: readonly FieldFault[] = [
  {
    campo: 'lugar',
    mensaje: 'El enlace que nos dio no lleva a un lugar del mapa. Díganos el lugar otra vez, aquí abajo.',
  },
]

/** Link of a recipient, as the browser opened it. */
interface Abierto {
  token: string
  /** Relative path from the page to the service root. */
  raiz: string
  red: string
}

interface OpcionesDeHojas {
  /** Returns the map, given the relative path from the page to the service root; null if the service offers no map. */
  mapaDe: (raiz: string) => DatosDelMapa | null
  /** Rate limit per network for requests of a new link. */
  porOtro: Limit
}

/**
 * Creates the two handlers of a recipient's link: `ver` shows its page, and `recibir` answers the form sent from that
 * page.
 */
export function crearHojas(solicitudes: Solicitudes, { mapaDe, porOtro }: OpcionesDeHojas) {
  const ver = async (
    { token, raiz, red }: Abierto,
    llenado: Partial<FormValues> = {},
    fallas: readonly FieldFault[] = [],
  ): Promise<Sheet> => {
    const datos = await solicitudes.leer(token)
    if (!datos) return { status: 404, ...SOLICITUD_DESCONOCIDA }
    if (datos.estado === 'vencida') return { status: 410, ...VENCIDA }
    if (datos.estado === 'cerrada') return { status: 200, ...CERRADA }
    const cambiar = llenado.cambiar === '1'
    if (datos.estado === 'confirmada' && !(cambiar && datos.corregible)) {
      const lectura = datos.corregible ? (datos.confirmado?.lectura ?? null) : null
      if (lectura === 'sin_lugar') return ver({ token, raiz, red }, { cambiar: '1' }, ENLACE_SIN_LUGAR)
      if (lectura === 'leyendo') return { status: 200, ...paginaDeLectura(datos) }
      const fallaDePalabras = fallas.find(({ campo }) => campo === 'referencia')?.mensaje
      return {
        status: fallaDePalabras === undefined ? 200 : 422,
        ...paginaDeGracias(datos, { raiz, tarde: cambiar, palabras: llenado.referencia, falla: fallaDePalabras }),
      }
    }
    const nuevo = llenado.metodo === undefined
    const referencia = nuevo ? (datos.confirmado?.referencia ?? '') : ''
    const valores = { ...VACIO, referencia, ...llenado }
    const contenido = paginaDelFormulario(datos, { valores, fallas, mapa: mapaDe(raiz), nuevo })
    return { status: fallas.length > 0 ? 422 : 200, ...contenido }
  }
  const pedirOtro = async (abierto: Abierto): Promise<Sheet> => {
    if (porOtro(abierto.red) > 0) return { status: 429, ...OTRO_AGOTADO }
    const resultado = await solicitudes.pedirOtro(abierto.token)
    if (resultado.ok) return { status: 200, ...paginaDeOtroEnlace(resultado) }
    return resultado.motivo === 'agotada' ? { status: 429, ...OTRO_AGOTADO } : ver(abierto)
  }
  const describir = async (abierto: Abierto, { referencia }: Formulario): Promise<Sheet> => {
    const resultado = referenciaLarga(referencia)
      ? { ok: false as const, motivo: 'referencia_larga' as const, mensaje: REFERENCIA_LARGA }
      : await solicitudes.describir(abierto.token, referencia)
    if (resultado.ok) return { status: 303, a: abierto.token }
    if (resultado.motivo === 'agotada') return { status: 409, ...AGOTADA }
    if (!('mensaje' in resultado)) return ver(abierto)
    return ver(abierto, { referencia }, [{ campo: 'referencia', mensaje: resultado.mensaje }])
  }
  const recibir = async (abierto: Abierto, formulario: Formulario): Promise<Sheet> => {
    const { token } = abierto
    const valores = valoresDe(formulario)
    if (formulario.accion === 'otro') return pedirOtro(abierto)
    if (formulario.accion === 'corregir') return ver(abierto, valores)
    if (formulario.accion === 'senas') return describir(abierto, formulario)
    const { lugar, fallas } = interpretarFormulario(formulario)
    if (!lugar) return ver(abierto, valores, fallas)
    const resultado = await solicitudes.confirmar(token, lugar)
    if (resultado.ok) return { status: 303, a: token }
    if (resultado.motivo === 'agotada') return { status: 409, ...AGOTADA }
    if (resultado.motivo === 'lejos' || resultado.motivo === 'con_punto') {
      const datos = await solicitudes.leer(token)
      if (!datos) return { status: 404, ...SOLICITUD_DESCONOCIDA }
      return resultado.motivo === 'lejos'
        ? { status: 422, ...paginaDeSeguro(datos, valores, resultado.distancia_km) }
        : { status: 422, ...paginaDePalabras(datos, valores) }
    }
    // The link is closed, expired or unknown. The page that answers says which.
    if (!('mensaje' in resultado)) return ver(abierto, { cambiar: valores.cambiar })
    return ver(abierto, valores, [{ campo: CAMPO_DE[resultado.motivo], mensaje: resultado.mensaje }])
  }
  return { ver, recibir }
}
