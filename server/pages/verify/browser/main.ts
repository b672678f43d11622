// Script of the verification page. It computes the digest of a PDF, and the server compares it with the signed digest.
// The PDF itself is not sent. The script also verifies the signature, so that the reader need not trust the service's
// answer.
import type { EvidenciaDePrueba, MotivoSinFirma } from '../../../generated/contract/types/index.ts'
import { DESCRIPCIONES_DE_FALTA, DESCRIPCIONES_DE_SIN_FIRMA } from '../../../generated/contract/vocabulary.ts'
import { inGroups } from '../../../platform/codes/guideCode.ts'
import { createClock } from '../../../platform/time/clock.ts'

/** Maximum size of a file, in bytes. No proof of delivery is larger. */
const MAX_PDF_BYTES = 40 * 1024 * 1024

interface Manifest {
  guia: string
  entregado_en: string
  sin_firma: MotivoSinFirma | null
  evidencia: EvidenciaDePrueba
  archivos: { tipo: string; sha256: string }[]
}
/** Result of verifying the signature in the browser; `sin_ella` if the browser does not support Ed25519. */
type Firma = { estado: 'buena'; manifiesto: Manifest; kid: string } | { estado: 'mala' } | { estado: 'sin_ella' }

interface CheckResult {
  tone: 'bien' | 'mal' | 'aviso'
  titulo: string
  paragraphs: string[]
  bullets?: string[]
  datos?: [string, string][]
}

const section = document.querySelector<HTMLElement>('#verificador')!
const { guia = '', zona = 'UTC', raiz: root = '' } = section.dataset
/** Code of the guide in groups of four, as the document prints it. */
const code = inGroups(guia)
const fileInput = document.querySelector<HTMLInputElement>('#archivo')!
const where = document.querySelector<HTMLElement>('#resultado')!
const box = document.querySelector<HTMLElement>('.zona')!
/**
 * Number of the file that was chosen last. If several files are chosen one after another, only the last result is
 * shown.
 */
let checkNumber = 0

section.hidden = false
fileInput.addEventListener('change', () => {
  const archivo = fileInput.files?.[0]
  if (archivo) void handleFile(archivo)
  // The field is emptied, because choosing the same file again after a change to the file would otherwise have no
  // effect.
  fileInput.value = ''
})
// Listens on the whole page, because a browser would otherwise open a file that is dropped beside the box and leave the
// page.
for (const type of ['dragenter', 'dragover', 'dragleave', 'drop'] as const) {
  document.addEventListener(type, (evento) => {
    evento.preventDefault()
    box.classList.toggle('encima', type === 'dragenter' || type === 'dragover')
    const archivo = type === 'drop' ? evento.dataTransfer?.files[0] : undefined
    if (archivo) void handleFile(archivo)
  })
}

async function handleFile(archivo: File) {
  const thisCheck = ++checkNumber
  showResult({ tone: 'aviso', titulo: 'Comprobando…', paragraphs: [archivo.name] }, false)
  const result = await checkPdf(archivo).catch(() => NO_RESPONSE)
  if (thisCheck === checkNumber) showResult(result, true)
}

const NO_RESPONSE: CheckResult = {
  tone: 'aviso',
  titulo: 'No se pudo comprobar',
  paragraphs: ['No hubo respuesta. Revise su conexión y elija el archivo otra vez.'],
}
const NOT_A_PDF: CheckResult = {
  tone: 'mal',
  titulo: 'No es la prueba de esta guía',
  paragraphs: ['El archivo no es un PDF de este servicio: elija el PDF que le dieron, no una foto ni una captura.'],
}

async function checkPdf(archivo: File): Promise<CheckResult> {
  if (!window.crypto?.subtle) {
    const paragraphs = ['Para calcular la huella, abra esta página con https:// o en un navegador reciente.']
    return { tone: 'aviso', titulo: 'Este navegador no puede comprobarlo', paragraphs }
  }
  if (archivo.size > MAX_PDF_BYTES)
    return { ...NOT_A_PDF, paragraphs: ['El archivo es demasiado grande para ser una prueba de entrega.'] }
  const bytes = await read(archivo)
  if (!bytes) {
    const paragraphs = [
      'El archivo no se pudo leer. Si está en la nube, descárguelo a su dispositivo y elíjalo otra vez.',
    ]
    return { tone: 'aviso', titulo: 'No se pudo abrir el archivo', paragraphs }
  }
  if (String.fromCharCode(...bytes.subarray(0, 5)) !== '%PDF-') return NOT_A_PDF
  const sha256 = toHex(await crypto.subtle.digest('SHA-256', bytes))
  const response = await fetch(`${root}verificar/${guia}/comprobar`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ sha256 }),
  })
  if (response.status === 429) {
    const waitSeconds = response.headers.get('Retry-After') ?? '10'
    return {
      ...NO_RESPONSE,
      paragraphs: [`Hay muchas consultas desde su conexión. Espere ${waitSeconds} s y elija el archivo otra vez.`],
    }
  }
  if (!response.ok) return { ...NO_RESPONSE, paragraphs: ['Algo nos falló. Elija el archivo otra vez en un minuto.'] }
  const { resultado, manifiesto } = (await response.json()) as { resultado: string; manifiesto: string | null }
  if (resultado === 'pendiente') return PENDING
  if (!['autentica', 'rectificada'].includes(resultado) || manifiesto === null) return DIFFERENT
  const firma = await checkFirma(manifiesto, sha256)
  return resultado === 'rectificada' && firma.estado !== 'mala' ? RECTIFIED : resultOfFirma(firma)
}

const PENDING: CheckResult = {
  tone: 'aviso',
  titulo: 'La prueba se está preparando',
  paragraphs: ['Vuelva a intentarlo en unos segundos.'],
}
const RECTIFIED: CheckResult = {
  tone: 'mal',
  titulo: 'Ya no vale',
  paragraphs: ['Este PDF lo emitió este servicio, pero la entrega fue un error y se deshizo.'],
}
const DIFFERENT: CheckResult = {
  tone: 'mal',
  titulo: 'No es la prueba de esta guía',
  paragraphs: ['Este PDF no es el que emitimos para la guía. Puede deberse a una de dos cosas:'],
  bullets: [
    'El archivo cambió después de emitirse, aunque sea en una letra: lo editaron, lo imprimieron a PDF o lo guardaron con otro programa.',
    `Es la prueba de otra guía: compare el código ${code} con el que dice el documento.`,
  ],
}

function resultOfFirma(firma: Firma): CheckResult {
  if (firma.estado === 'mala') {
    const paragraphs = [
      'La huella coincide, pero la firma digital no. No se fíe del documento y avise a quien se lo dio.',
    ]
    return { tone: 'mal', titulo: 'La firma no es válida', paragraphs }
  }
  const titulo = 'Es auténtica'
  const paragraphs = [`Este PDF es, byte por byte, la prueba de entrega que se emitió para la guía ${code}.`]
  if (firma.estado === 'sin_ella') {
    paragraphs.push('La huella coincide. Su navegador no sabe comprobar además la firma digital (Ed25519).')
    return { tone: 'bien', titulo, paragraphs }
  }
  const { manifiesto, kid } = firma
  const { sin_firma, evidencia } = manifiesto
  const countOfType = (type: string) => manifiesto.archivos.filter((archivo) => archivo.tipo === type).length
  return {
    tone: 'bien',
    titulo,
    paragraphs,
    datos: [
      ['Entregado', createClock(zona).formatLong(manifiesto.entregado_en)],
      ['Fotos', String(countOfType('foto'))],
      ['Firma de quien recibió', countOfType('firma') > 0 ? 'Sí' : missingFirmaText(sin_firma)],
      ...(evidencia.pagina_anterior ? [requestedRow(evidencia)] : []),
      ['Firma digital', `Comprobada aquí mismo, con la clave ${kid.slice(0, 8)}…`],
    ],
  }
}

const missingFirmaText = (reason: MotivoSinFirma | null) =>
  reason ? `No: ${DESCRIPCIONES_DE_SIN_FIRMA[reason].toLowerCase()}` : 'No'

/** Returns the row about a delivery that was made with an outdated page, and lists the missing evidence. */
function requestedRow({ faltas }: EvidenciaDePrueba): [string, string] {
  const missingWords = faltas.map((missingItem) => DESCRIPCIONES_DE_FALTA[missingItem]).join(', ') || 'nada'
  return ['Pedido por el comercio', `Falta: ${missingWords}. Se entregó con una página anterior`]
}

/**
 * Verifies a signature with the service's public keys. Also checks that the signature is for this file of this guide.
 */
async function checkFirma(jws: string, sha256: string): Promise<Firma> {
  const [head = '', body = '', firma = ''] = jws.split('.')
  const { alg, typ, kid } = readJson(head) as { alg?: string; typ?: string; kid?: string }
  const manifiesto = readJson(body) as Manifest
  const { keys } = (await (await fetch(`${root}.well-known/jwks.json`)).json()) as {
    keys: { kid: string; x: string }[]
  }
  const key = keys.find((jwk) => jwk.kid === kid)
  if (alg !== 'EdDSA' || typ !== 'prueba-entrega+jws' || !key || kid === undefined) return { estado: 'mala' }
  let publicKey: CryptoKey
  try {
    publicKey = await crypto.subtle.importKey('raw', fromBase64(key.x), { name: 'Ed25519' }, false, ['verify'])
  } catch {
    return { estado: 'sin_ella' }
  }
  const signedBytes = new TextEncoder().encode(`${head}.${body}`)
  const isValid = await crypto.subtle.verify({ name: 'Ed25519' }, publicKey, fromBase64(firma), signedBytes)
  const isForThisFile =
    manifiesto.guia === guia &&
    manifiesto.archivos.some((archivo) => archivo.tipo === 'pdf' && archivo.sha256 === sha256)
  return isValid && isForThisFile ? { estado: 'buena', manifiesto, kid } : { estado: 'mala' }
}

const fromBase64 = (text: string) =>
  Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (character) => character.charCodeAt(0))
const readJson = (part: string): unknown => JSON.parse(new TextDecoder().decode(fromBase64(part)))
const toHex = (bytes: ArrayBuffer) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Reads a file; undefined if the file is only in a cloud storage, or was deleted after it was chosen. */
async function read(archivo: File): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await archivo.arrayBuffer())
  } catch {
    return undefined
  }
}

function showResult({ tone, titulo, paragraphs, bullets = [], datos = [] }: CheckResult, takesFocus: boolean) {
  const node = (etiqueta: string, text = '') => Object.assign(document.createElement(etiqueta), { textContent: text })
  const card = node('div')
  card.className = 'aviso'
  card.dataset.tono = tone
  const head = node('h2', titulo)
  head.tabIndex = -1
  card.append(head, ...paragraphs.map((text) => node('p', text)))
  if (bullets.length > 0) {
    const ul = node('ul')
    ul.append(...bullets.map((text) => node('li', text)))
    card.append(ul)
  }
  if (datos.length > 0) {
    const dl = node('dl')
    for (const [term, value] of datos) dl.append(node('dt', term), node('dd', value))
    card.append(dl)
  }
  where.replaceChildren(card)
  if (!takesFocus) return
  head.focus({ preventScroll: true })
  card.scrollIntoView({ block: 'nearest' })
}
