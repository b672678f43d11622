// Meanings of WhatsApp's error codes, in words for an operator: each sentence names the remedy. The codes are those of
// Meta's Cloud API (developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes).

/** Meaning of a WhatsApp error code for a message, in words for an operator. */
export interface CodeVerdict {
  /** True if a retry may succeed; false if the same message can never succeed. */
  transient: boolean
  motivo: string
  /** Seconds to wait if the answer does not say; null for permanent errors. */
  waitSeconds: number | null
}

const RENEW_TOKEN = 'genere un token permanente de usuario del sistema y cámbielo en la configuración'
const CHECK_TEMPLATE = 'revise la plantilla en el Administrador de WhatsApp'
const CHECK_ACCOUNT = 'revise el estado de la cuenta en el Administrador de WhatsApp'
const CHECK_PERMISSIONS = 'dé al token los permisos whatsapp_business_messaging y whatsapp_business_management'

const REJECTED = byCode<string>({
  0: `El token de WhatsApp no autentica: ${RENEW_TOKEN}.`,
  3: `La aplicación de Meta no tiene permiso para enviar mensajes: ${CHECK_PERMISSIONS}.`,
  10: `El token de WhatsApp no tiene permiso para enviar: ${CHECK_PERMISSIONS}.`,
  33: 'El número emisor de WhatsApp no existe o fue eliminado: revise el phone number id de la configuración.',
  100: 'WhatsApp no aceptó un dato de la solicitud: revise el phone number id y la versión de la API en la configuración.',
  190: `El token de WhatsApp venció o fue revocado: ${RENEW_TOKEN}.`,
  368: `La cuenta de WhatsApp está restringida por infringir las políticas: ${CHECK_ACCOUNT}.`,
  130472:
    'Meta incluyó este número en un experimento y no le entrega el mensaje: use otro medio con este destinatario.',
  130497: 'La cuenta no puede escribir a números de este país: revise en Meta los países permitidos o use otro medio.',
  131005: `Meta denegó el acceso: ${CHECK_PERMISSIONS}.`,
  131008: `Falta un dato que la plantilla exige: ${CHECK_TEMPLATE}.`,
  131009: 'Un valor de la solicitud no es válido: revise el teléfono del destinatario y los datos de la plantilla.',
  131021: 'El destinatario es el mismo número que envía: corrija el teléfono de la guía.',
  131026:
    'El mensaje no se puede entregar: el número no usa WhatsApp, tiene una versión antigua o no aceptó sus condiciones; use otro medio.',
  131030: 'El número no está en la lista de prueba de Meta: agréguelo en la aplicación o pase la cuenta a producción.',
  131031: `La cuenta de WhatsApp está bloqueada: ${CHECK_ACCOUNT}.`,
  131042: 'La cuenta de WhatsApp tiene un problema de pago: revise el método de pago en Meta Business.',
  131045: 'El número emisor no está bien registrado: vuelva a registrarlo en la API de WhatsApp con su certificado.',
  131047: 'Pasaron más de 24 horas desde el último mensaje del destinatario: solo se le puede enviar una plantilla.',
  131050: 'El destinatario pidió no recibir mensajes de mercadeo: use una plantilla de utilidad u otro medio.',
  131051: 'WhatsApp no admite este tipo de mensaje: pida al destinatario que escriba un texto o comparta su ubicación.',
  131052: 'No se pudo descargar el archivo que envió el destinatario: pídale que lo envíe de nuevo.',
  131053: 'No se pudo cargar el archivo del mensaje: revise su tipo y su tamaño.',
  132000: `La cantidad de datos no es la que espera la plantilla: ${CHECK_TEMPLATE} (dos variables y un botón de enlace).`,
  132001: `La plantilla no existe en ese idioma o no está aprobada: ${CHECK_TEMPLATE} y los nombres de la configuración.`,
  132005: `El texto de la plantilla queda demasiado largo con estos datos: ${CHECK_TEMPLATE} y acórtela.`,
  132007: `El contenido de la plantilla infringe una política de WhatsApp: ${CHECK_TEMPLATE}.`,
  132012: `Los datos no tienen el formato que espera la plantilla: ${CHECK_TEMPLATE} (dos variables y un botón de enlace).`,
  132015: `La plantilla está en pausa por su baja calidad: ${CHECK_TEMPLATE} y mejórela o use otra.`,
  132016: `La plantilla quedó desactivada por su baja calidad: ${CHECK_TEMPLATE} y cree otra.`,
  133010: 'El número emisor no está registrado en la API de WhatsApp: regístrelo antes de enviar.',
})

const MINUTE_S = 60
const HOUR_S = 60 * MINUTE_S

const TRANSIENT = byCode<[esperar_s: number, motivo: string]>({
  2: [MINUTE_S, 'El servicio de WhatsApp no está disponible por ahora: se reintentará.'],
  4: [15 * MINUTE_S, 'La aplicación agotó sus llamadas a la API de Meta por ahora: se reintentará más despacio.'],
  80007: [15 * MINUTE_S, 'La cuenta agotó sus llamadas a la API de WhatsApp por ahora: se reintentará más despacio.'],
  130429: [10, 'Se enviaron demasiados mensajes por segundo: se reintentará más despacio.'],
  131000: [MINUTE_S, 'WhatsApp falló sin decir por qué: se reintentará.'],
  131016: [MINUTE_S, 'El servicio de WhatsApp no está disponible por ahora: se reintentará.'],
  131048: [
    6 * HOUR_S,
    'WhatsApp limitó los envíos porque muchos destinatarios los bloquearon o denunciaron: revise la calidad del número.',
  ],
  131049: [
    24 * HOUR_S,
    'WhatsApp no entrega más mensajes a este destinatario por ahora: se reintentará pasado un día.',
  ],
  131056: [MINUTE_S, 'Se enviaron demasiados mensajes seguidos a este destinatario: se reintentará más tarde.'],
  131057: [10 * MINUTE_S, 'La cuenta de WhatsApp está en mantenimiento: se reintentará.'],
  133004: [MINUTE_S, 'El servidor de WhatsApp no está disponible por ahora: se reintentará.'],
})

/** Returns a table as a map, which is safe for any text as key, `constructor` included. */
function byCode<T>(table: Record<number, T>): ReadonlyMap<string, T> {
  return new Map(Object.entries(table))
}

/** Returns the meaning of a WhatsApp error code; null for an unknown code. */
export function judgeCode(code: string): CodeVerdict | null {
  const transient = TRANSIENT.get(code)
  if (transient) return { transient: true, waitSeconds: transient[0], motivo: transient[1] }
  // All codes from 200 to 299 are Meta's permission errors and have the meaning of code 10.
  const motivo = REJECTED.get(/^2\d\d$/.test(code) ? '10' : code)
  return motivo ? { transient: false, motivo, waitSeconds: null } : null
}

/** Masks everything in a text that looks like a telephone or a token, because details appear in logs and on screens. */
export const maskText = (text: string): string =>
  text
    .replace(/\bEAA\w{5,}/g, '***')
    .replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
    .replace(/\+?\d(?:[\s().-]?\d){6,}/g, (number) => `***${number.slice(-2)}`)
    .trim()

const MAX_DETAIL_LENGTH = 200

/**
 * Returns the reason of a failure for an operator: the service's sentence for the code, followed by Meta's own words.
 */
export function writeReason(code: string, detail: string | null): string {
  const sentence =
    judgeCode(code)?.motivo ??
    `WhatsApp respondió con el código ${code}, que no se conoce: búsquelo en la documentación de Meta.`
  const visible = maskText(detail ?? '').slice(0, MAX_DETAIL_LENGTH)
  return visible ? `${sentence} (Meta: «${visible.toWellFormed()}»)` : sentence
}
