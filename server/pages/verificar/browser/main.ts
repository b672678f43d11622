// Script of the verification page. It computes the digest of a PDF, and the server compares it with the signed digest.
// The PDF itself is not sent. The script also verifies the signature, so that the reader need not trust the service's
// answer.
import type { EvidenciaDePrueba, MotivoSinFirma } from '../../../generado/contrato/tipos/index.ts'
import { DESCRIPCIONES_DE_FALTA, DESCRIPCIONES_DE_SIN_FIRMA } from '../../../generado/contrato/vocabulario.ts'
import { inGroups } from '../../../platform/codes/guideCode.ts'
import { createClock } from '../../../platform/time/clock.ts'

/** Maximum size of a file, in bytes. No proof of delivery is larger. */
const MAXIMO = 40 * 1024 * 1024

interface Manifiesto {
  guia: string
  entregado_en: string
  sin_firma: MotivoSinFirma | null
  evidencia: EvidenciaDePrueba
  archivos: { tipo: string; sha256: string }[]
}
/** Result of verifying the signature in the browser; `sin_ella` if the browser does not support Ed25519. */
type Firma = { estado: 'buena'; manifiesto: Manifiesto; kid: string } | { estado: 'mala' } | { estado: 'sin_ella' }

interface Resultado {
  tono: 'bien' | 'mal' | 'aviso'
  titulo: string
  parrafos: string[]
  lista?: string[]
  datos?: [string, string][]
}

const seccion = document.querySelector<HTMLElement>('#verificador')!
const { guia = '', zona = 'UTC', raiz = '' } = seccion.dataset
/** Code of the guide in groups of four, as the document prints it. */
const codigo = inGroups(guia)
const entrada = document.querySelector<HTMLInputElement>('#archivo')!
const donde = document.querySelector<HTMLElement>('#resultado')!
const caja = document.querySelector<HTMLElement>('.zona')!
/**
 * Number of the file that was chosen last. If several files are chosen one after another, only the last result is
 * shown.
 */
let vez = 0

seccion.hidden = false
entrada.addEventListener('change', () => {
  const archivo = entrada.files?.[0]
  if (archivo) void atender(archivo)
  // The field is emptied, because choosing the same file again after a change to the file would otherwise have no
  // effect.
  entrada.value = ''
})
// Listens on the whole page, because a browser would otherwise open a file that is dropped beside the box and leave the
// page.
for (const tipo of ['dragenter', 'dragover', 'dragleave', 'drop'] as const) {
  document.addEventListener(tipo, (evento) => {
    evento.preventDefault()
    caja.classList.toggle('encima', tipo === 'dragenter' || tipo === 'dragover')
    const archivo = tipo === 'drop' ? evento.dataTransfer?.files[0] : undefined
    if (archivo) void atender(archivo)
  })
}

async function atender(archivo: File) {
  const esta = ++vez
  mostrar({ tono: 'aviso', titulo: 'Comprobando…', parrafos: [archivo.name] }, false)
  const resultado = await comprobar(archivo).catch(() => SIN_RED)
  if (esta === vez) mostrar(resultado, true)
}

const SIN_RED: Resultado = {
  tono: 'aviso',
  titulo: 'No se pudo comprobar',
  parrafos: ['No hubo respuesta. Revise su conexión y elija el archivo otra vez.'],
}
const NO_ES_PDF: Resultado = {
  tono: 'mal',
  titulo: 'No es la prueba de esta guía',
  parrafos: ['El archivo no es un PDF de este servicio: elija el PDF que le dieron, no una foto ni una captura.'],
}

async function comprobar(archivo: File): Promise<Resultado> {
  if (!window.crypto?.subtle) {
    const parrafos = ['Para calcular la huella, abra esta página con https:// o en un navegador reciente.']
    return { tono: 'aviso', titulo: 'Este navegador no puede comprobarlo', parrafos }
  }
  if (archivo.size > MAXIMO)
    return { ...NO_ES_PDF, parrafos: ['El archivo es demasiado grande para ser una prueba de entrega.'] }
  const bytes = await leer(archivo)
  if (!bytes) {
    const parrafos = [
      'El archivo no se pudo leer. Si está en la nube, descárguelo a su dispositivo y elíjalo otra vez.',
    ]
    return { tono: 'aviso', titulo: 'No se pudo abrir el archivo', parrafos }
  }
  if (String.fromCharCode(...bytes.subarray(0, 5)) !== '%PDF-') return NO_ES_PDF
  const sha256 = enHexadecimal(await crypto.subtle.digest('SHA-256', bytes))
  const respuesta = await fetch(`${raiz}verificar/${guia}/comprobar`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ sha256 }),
  })
  if (respuesta.status === 429) {
    const espera = respuesta.headers.get('Retry-After') ?? '10'
    return {
      ...SIN_RED,
      parrafos: [`Hay muchas consultas desde su conexión. Espere ${espera} s y elija el archivo otra vez.`],
    }
  }
  if (!respuesta.ok) return { ...SIN_RED, parrafos: ['Algo nos falló. Elija el archivo otra vez en un minuto.'] }
  const { resultado, manifiesto } = (await respuesta.json()) as { resultado: string; manifiesto: string | null }
  if (resultado === 'pendiente') return PENDIENTE
  if (!['autentica', 'rectificada'].includes(resultado) || manifiesto === null) return DISTINTA
  const firma = await comprobarFirma(manifiesto, sha256)
  return resultado === 'rectificada' && firma.estado !== 'mala' ? RECTIFICADA : segunFirma(firma)
}

const PENDIENTE: Resultado = {
  tono: 'aviso',
  titulo: 'La prueba se está preparando',
  parrafos: ['Vuelva a intentarlo en unos segundos.'],
}
const RECTIFICADA: Resultado = {
  tono: 'mal',
  titulo: 'Ya no vale',
  parrafos: ['Este PDF lo emitió este servicio, pero la entrega fue un error y se deshizo.'],
}
const DISTINTA: Resultado = {
  tono: 'mal',
  titulo: 'No es la prueba de esta guía',
  parrafos: ['Este PDF no es el que emitimos para la guía. Puede deberse a una de dos cosas:'],
  lista: [
    'El archivo cambió después de emitirse, aunque sea en una letra: lo editaron, lo imprimieron a PDF o lo guardaron con otro programa.',
    `Es la prueba de otra guía: compare el código ${codigo} con el que dice el documento.`,
  ],
}

function segunFirma(firma: Firma): Resultado {
  if (firma.estado === 'mala') {
    const parrafos = [
      'La huella coincide, pero la firma digital no. No se fíe del documento y avise a quien se lo dio.',
    ]
    return { tono: 'mal', titulo: 'La firma no es válida', parrafos }
  }
  const titulo = 'Es auténtica'
  const parrafos = [`Este PDF es, byte por byte, la prueba de entrega que se emitió para la guía ${codigo}.`]
  if (firma.estado === 'sin_ella') {
    parrafos.push('La huella coincide. Su navegador no sabe comprobar además la firma digital (Ed25519).')
    return { tono: 'bien', titulo, parrafos }
  }
  const { manifiesto, kid } = firma
  const { sin_firma, evidencia } = manifiesto
  const deTipo = (tipo: string) => manifiesto.archivos.filter((archivo) => archivo.tipo === tipo).length
  return {
    tono: 'bien',
    titulo,
    parrafos,
    datos: [
      ['Entregada', createClock(zona).larga(manifiesto.entregado_en)],
      ['Fotos', String(deTipo('foto'))],
      ['Firma de quien recibió', deTipo('firma') > 0 ? 'Sí' : sinFirma(sin_firma)],
      ...(evidencia.pagina_anterior ? [pedido(evidencia)] : []),
      ['Firma digital', `Comprobada aquí mismo, con la clave ${kid.slice(0, 8)}…`],
    ],
  }
}

const sinFirma = (porque: MotivoSinFirma | null) =>
  porque ? `No: ${DESCRIPCIONES_DE_SIN_FIRMA[porque].toLowerCase()}` : 'No'

/** Returns the row about a delivery that was made with an outdated page, and lists the missing evidence. */
function pedido({ faltas }: EvidenciaDePrueba): [string, string] {
  const dichas = faltas.map((falta) => DESCRIPCIONES_DE_FALTA[falta]).join(', ') || 'nada'
  return ['Pedido por el comercio', `Falta: ${dichas}. Se entregó con una página anterior`]
}

/**
 * Verifies a signature with the service's public keys. Also checks that the signature is for this file of this guide.
 */
async function comprobarFirma(jws: string, sha256: string): Promise<Firma> {
  const [cabeza = '', cuerpo = '', firma = ''] = jws.split('.')
  const { alg, typ, kid } = leerJson(cabeza) as { alg?: string; typ?: string; kid?: string }
  const manifiesto = leerJson(cuerpo) as Manifiesto
  const { keys } = (await (await fetch(`${raiz}.well-known/jwks.json`)).json()) as {
    keys: { kid: string; x: string }[]
  }
  const clave = keys.find((una) => una.kid === kid)
  if (alg !== 'EdDSA' || typ !== 'prueba-entrega+jws' || !clave || kid === undefined) return { estado: 'mala' }
  let publica: CryptoKey
  try {
    publica = await crypto.subtle.importKey('raw', deBase64(clave.x), { name: 'Ed25519' }, false, ['verify'])
  } catch {
    return { estado: 'sin_ella' }
  }
  const firmado = new TextEncoder().encode(`${cabeza}.${cuerpo}`)
  const buena = await crypto.subtle.verify({ name: 'Ed25519' }, publica, deBase64(firma), firmado)
  const suya =
    manifiesto.guia === guia &&
    manifiesto.archivos.some((archivo) => archivo.tipo === 'pdf' && archivo.sha256 === sha256)
  return buena && suya ? { estado: 'buena', manifiesto, kid } : { estado: 'mala' }
}

const deBase64 = (texto: string) =>
  Uint8Array.from(atob(texto.replace(/-/g, '+').replace(/_/g, '/')), (letra) => letra.charCodeAt(0))
const leerJson = (parte: string): unknown => JSON.parse(new TextDecoder().decode(deBase64(parte)))
const enHexadecimal = (bytes: ArrayBuffer) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Reads a file; undefined if the file is only in a cloud storage, or was deleted after it was chosen. */
async function leer(archivo: File): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await archivo.arrayBuffer())
  } catch {
    return undefined
  }
}

function mostrar({ tono, titulo, parrafos, lista = [], datos = [] }: Resultado, enfocar: boolean) {
  const nodo = (etiqueta: string, texto = '') => Object.assign(document.createElement(etiqueta), { textContent: texto })
  const tarjeta = nodo('div')
  tarjeta.className = 'aviso'
  tarjeta.dataset.tono = tono
  const cabeza = nodo('h2', titulo)
  cabeza.tabIndex = -1
  tarjeta.append(cabeza, ...parrafos.map((texto) => nodo('p', texto)))
  if (lista.length > 0) {
    const ul = nodo('ul')
    ul.append(...lista.map((texto) => nodo('li', texto)))
    tarjeta.append(ul)
  }
  if (datos.length > 0) {
    const dl = nodo('dl')
    for (const [que, valor] of datos) dl.append(nodo('dt', que), nodo('dd', valor))
    tarjeta.append(dl)
  }
  donde.replaceChildren(tarjeta)
  if (!enfocar) return
  cabeza.focus({ preventScroll: true })
  tarjeta.scrollIntoView({ block: 'nearest' })
}
