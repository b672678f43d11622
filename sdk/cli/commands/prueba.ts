import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchivoDePrueba, ClavesPublicas, Guias, PruebaDeEntrega } from '@guias/sdk'
import { ErrorPrueba, verificarPrueba } from '@guias/sdk/verificar'
import { explainSystemError } from '../cause.ts'
import { CODE_PATTERN, CODES_OPTION, canonicalizeCode, forEachCode, readCodes } from '../codigos.ts'
import { type CliCommand, type Context, EXIT_CODE, sleepUntilAborted, UsageError } from '../command.ts'
import { DownloadError, download, putAtomically, requireFreePaths, writeFileAtomically } from '../files.ts'
import { hora, notify, paint, paintNotice, printLine, sanitize } from '../terminal.ts'

const MANIFEST_FILE = 'manifiesto.jws'
const KEYS_FILE = 'claves.json'
const DATA_FILE = 'prueba.json'

export const prueba: CliCommand = {
  summary: 'descarga la prueba de entrega, y comprueba que es auténtica',
  usage: ['prueba <guia>… [opciones]', 'prueba --archivo codigos.txt [opciones]'],
  explanation: `Descarga a la carpeta prueba-<guia> las fotos, la firma y el PDF de la entrega,
con su manifiesto firmado y las claves públicas con que se comprueba.

Con --verificar comprueba la firma del manifiesto (EdDSA) y que cada archivo es,
byte por byte, el que se firmó. Lo que ya está descargado se comprueba ahí mismo,
sin red y sin llave, hoy o dentro de años.`,
  options: {
    verificar: { description: 'comprueba la firma y los archivos; los descarga si no están' },
    claves: {
      placeholder: '<ruta>',
      description: 'con qué claves públicas comprobar; si falta, las que se descargaron',
    },
    carpeta: { placeholder: '<ruta>', description: 'dónde hacer las carpetas; aquí si falta' },
    forzar: { description: 'descarga otra vez lo que ya esté' },
    ...CODES_OPTION,
  },
  positionals: [0, Number.POSITIVE_INFINITY],
  examples: ['prueba 7K3M9QX2A1B4 --verificar'],
  async run(context) {
    const codes = (await readCodes(context)).map(requireCode)
    const [mustVerify, forzar] = [context.isSet('verificar'), context.isSet('forzar')]
    if (context.texto('claves') !== undefined && !mustVerify) throw new UsageError('--claves va con --verificar.')
    const presentCodes = codes.filter((code) => existsSync(folderOf(code, context)))
    if (!mustVerify) {
      const remedy = 'compruebe lo que hay con --verificar, elija otro lugar con --carpeta'
      requireFreePaths(
        presentCodes.map((code) => folderOf(code, context)),
        forzar,
        remedy,
      )
    }
    const codesToDownload = forzar ? codes : codes.filter((code) => !presentCodes.includes(code))
    let fallidas = codesToDownload.length > 0 ? await downloadAll(codesToDownload, context) : 0
    if (mustVerify) {
      const downloadedCodes = codes.filter((code) => existsSync(folderOf(code, context)))
      for (const code of downloadedCodes) if (!(await checkPrueba(code, context))) fallidas++
    }
    return fallidas > 0 ? EXIT_CODE.refused : EXIT_CODE.ok
  },
}

/** Returns the canonical form of a code. The folders have the codes of guides, so that they are found without asking. */
function requireCode(text: string): string {
  if (CODE_PATTERN.test(text)) return canonicalizeCode(text)
  throw new UsageError(
    `«${sanitize(text)}» no es el código de una guía. Si es su número de pedido, guias ver dice el código.`,
  )
}

const folderOf = (code: string, context: Context) => join(context.texto('carpeta') ?? '.', `prueba-${code}`)

async function downloadAll(codes: string[], context: Context): Promise<number> {
  const api = context.api()
  const keys = await api.guias.clavesPublicas({ signal: context.signal })
  let incompleteCount = 0
  const fallidas = await forEachCode(codes, context, async (code) => {
    if (!(await downloadPrueba(api, code, keys, context))) incompleteCount++
  })
  return fallidas + incompleteCount
}

/**
 * Downloads all files of a proof into its folder. A new folder appears only when complete.
 *
 * @returns false if the PDF or the manifest is still missing
 */
async function downloadPrueba(api: Guias, code: string, keys: ClavesPublicas, context: Context) {
  const folder = folderOf(code, context)
  const foundPrueba = await waitForPdf(api, code, context)
  const files = archivosOf(foundPrueba)
  const downloadedFiles: [nombre: string, contenido: Buffer | string][] = []
  for (const [name, file] of files) downloadedFiles.push([name, await downloadFile(name, file, context.signal)])
  // Signed links expire, so the saved answer does not include them.
  const answerWithoutLinks = JSON.stringify(
    foundPrueba,
    (key, value) => (key === 'url' || key === 'vence_en' ? undefined : value),
    2,
  )
  downloadedFiles.push([DATA_FILE, `${answerWithoutLinks}\n`])
  if (foundPrueba.manifiesto)
    downloadedFiles.push([MANIFEST_FILE, foundPrueba.manifiesto], [KEYS_FILE, `${JSON.stringify(keys, null, 2)}\n`])
  if (existsSync(folder)) {
    for (const [name, content] of downloadedFiles) await writeFileAtomically(join(folder, name), content)
  } else {
    await putAtomically(folder, (provisional) => {
      mkdirSync(provisional)
      for (const [name, content] of downloadedFiles) writeFileSync(join(provisional, name), content)
    })
  }
  const names = downloadedFiles.map(([name]) => name)
  if (context.json) printLine(JSON.stringify({ guia: foundPrueba.guia, carpeta: folder, archivos: names }))
  else {
    const { recibido_por, entregado_en } = foundPrueba
    printLine(
      `${paint('strong', sanitize(foundPrueba.guia))}  ${hora(entregado_en)}  recibió ${sanitize(recibido_por.nombre)}`,
    )
    printLine(`  ${folder}: ${names.join(', ')}`)
  }
  if (foundPrueba.pdf && foundPrueba.manifiesto) return true
  notify(`El PDF de ${sanitize(foundPrueba.guia)} todavía se está haciendo: repita la orden con --forzar en un minuto.`)
  return false
}

async function downloadFile(name: string, { url, sha256 }: ArchivoDePrueba, signal: AbortSignal) {
  const bytes = await download(url, name, signal)
  const actualDigest = createHash('sha256').update(bytes).digest('hex')
  if (sha256 === null || actualDigest === sha256) return bytes
  throw new DownloadError(`${name} llegó alterado: su huella no es la que dice el servicio. Repita la orden.`)
}

const EXTENSIONS: Record<string, string> = { 'image/jpeg': 'jpg', 'image/png': 'png', 'application/pdf': 'pdf' }
const conExtension = (name: string, { mime }: ArchivoDePrueba) => `${name}.${EXTENSIONS[mime] ?? 'bin'}`

const archivosOf = ({ fotos, firma, pdf }: PruebaDeEntrega): [nombre: string, archivo: ArchivoDePrueba][] => [
  ...fotos.map((foto, i): [string, ArchivoDePrueba] => [conExtension(`foto-${i + 1}`, foto), foto]),
  ...(firma ? [[conExtension('firma', firma), firma] satisfies [string, ArchivoDePrueba]] : []),
  ...(pdf ? [[conExtension('prueba', pdf), pdf] satisfies [string, ArchivoDePrueba]] : []),
]

/**
 * Number of polls and milliseconds between polls: 30 s in total. The PDF and the manifest are ready some seconds after
 * the delivery.
 */
const MAX_POLLS = 20
const POLL_INTERVAL_MS = 1_500

async function waitForPdf({ guias }: Guias, code: string, { signal }: Context): Promise<PruebaDeEntrega> {
  for (let poll = 0; ; poll++) {
    const foundPrueba = await guias.pruebaEntrega(code, { signal })
    if ((foundPrueba.pdf && foundPrueba.manifiesto) || poll === MAX_POLLS) return foundPrueba
    if (poll === 0) notify('El PDF se está haciendo; espero…')
    await sleepUntilAborted(POLL_INTERVAL_MS, signal)
  }
}

/**
 * Verifies the files in the folder, offline.
 *
 * @returns true if the proof is authentic and no signed file is missing
 */
async function checkPrueba(guia: string, context: Context): Promise<boolean> {
  const folder = folderOf(guia, context)
  const names = readdirSync(folder)
    .filter((name) => /\.(jpg|png|pdf|bin)$/.test(name))
    .sort()
  try {
    const { manifiesto, archivos, kid } = await verificarPrueba({
      guia,
      manifiesto: leer(join(folder, MANIFEST_FILE)).trim(),
      claves: readKeys(context.texto('claves') ?? join(folder, KEYS_FILE)),
      archivos: names.map((name) => readFileSync(join(folder, name))),
    })
    const missingCount = manifiesto.archivos.length - new Set(archivos.map(({ archivo }) => archivo)).size
    if (context.json)
      printLine(JSON.stringify({ guia, autentica: true, completa: missingCount === 0, kid, manifiesto }))
    else {
      printLine(
        `${paint('green', 'Auténtica')}  ${guia}, entregada ${hora(manifiesto.entregado_en)}; ${archivos.length} archivos intactos`,
      )
      if (missingCount > 0)
        notify(`${paintNotice('yellow', 'Revise')}  faltan ${missingCount} de los archivos firmados en ${folder}`)
    }
    return missingCount === 0
  } catch (error) {
    if (!(error instanceof ErrorPrueba)) throw error
    const reason = describeVerificationFailure(error, names)
    if (context.json) printLine(JSON.stringify({ guia, autentica: false, codigo: error.codigo, mensaje: reason }))
    else notify(`${paintNotice('red', 'NO es auténtica')}  ${guia}: ${reason}`)
    return false
  }
}

function describeVerificationFailure({ codigo, message }: ErrorPrueba, names: string[]): string {
  const number = Number(/^El archivo (\d+) /.exec(message)?.[1])
  if (codigo === 'archivo') return `${names[number - 1]} no es el que se firmó: se alteró, o es de otra guía`
  if (codigo === 'clave_desconocida')
    return 'ninguna de las claves es la que firmó: descárguela otra vez con --forzar, o dé otras con --claves'
  if (codigo === 'claves') return 'las claves no son las del servicio ({ "keys": […] }): dé otras con --claves'
  if (codigo === 'firma')
    return 'la firma no corresponde al manifiesto: se alteró, o las claves no son las de quien lo firmó'
  return message
}

function readKeys(path: string): ClavesPublicas {
  try {
    return JSON.parse(leer(path))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new UsageError(`${path} no es JSON: dé las claves del servicio ({ "keys": […] }) con --claves.`)
  }
}

function leer(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(
      `No se pudo leer ${path}: ${explainSystemError(error)}. Descargue la prueba entera con --forzar.`,
    )
  }
}
