import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchivoDePrueba, ClavesPublicas, Guias, PruebaDeEntrega } from '@guias/sdk'
import { ErrorPrueba, verificarPrueba } from '@guias/sdk/verificar'
import { explainSystemError } from './cause.ts'
import { CODES_OPTION, canonicalizeCode, forEachCode, readCodes } from './codigos.ts'
import { type CliCommand, type Context, EXIT_CODE, sleepUntilAborted, UsageError } from './command.ts'
import { DownloadError, download, putAtomically, requireFreePaths, writeFileAtomically } from './files.ts'
import { hora, notify, paint, paintNotice, printLine, sanitize } from './terminal.ts'

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
  opciones: {
    verificar: { dice: 'comprueba la firma y los archivos; los descarga si no están' },
    claves: { valor: '<ruta>', dice: 'con qué claves públicas comprobar; si falta, las que se descargaron' },
    carpeta: { valor: '<ruta>', dice: 'dónde hacer las carpetas; aquí si falta' },
    forzar: { dice: 'descarga otra vez lo que ya esté' },
    ...CODES_OPTION,
  },
  positionals: [0, Number.POSITIVE_INFINITY],
  examples: ['prueba 7K3M9QX2A1B4 --verificar'],
  async run(context) {
    const codigos = (await readCodes(context)).map(canonicalizeCode)
    const [mustVerify, forzar] = [context.isSet('verificar'), context.isSet('forzar')]
    if (context.texto('claves') !== undefined && !mustVerify) throw new UsageError('--claves va con --verificar.')
    const presentCodes = codigos.filter((codigo) => existsSync(folderOf(codigo, context)))
    if (!mustVerify) {
      const remedy = 'compruebe lo que hay con --verificar, elija otro lugar con --carpeta'
      requireFreePaths(
        presentCodes.map((codigo) => folderOf(codigo, context)),
        forzar,
        remedy,
      )
    }
    const codesToDownload = forzar ? codigos : codigos.filter((codigo) => !presentCodes.includes(codigo))
    let fallidas = codesToDownload.length > 0 ? await downloadAll(codesToDownload, context) : 0
    if (mustVerify) {
      const downloadedCodes = codigos.filter((codigo) => existsSync(folderOf(codigo, context)))
      for (const codigo of downloadedCodes) if (!(await checkPrueba(codigo, context))) fallidas++
    }
    return fallidas > 0 ? EXIT_CODE.rechazo : EXIT_CODE.bien
  },
}

function folderOf(codigo: string, context: Context): string {
  if (!/^\w+$/.test(codigo)) throw new UsageError(`«${sanitize(codigo)}» no es el código de una guía.`)
  return join(context.texto('carpeta') ?? '.', `prueba-${codigo}`)
}

async function downloadAll(codigos: string[], context: Context): Promise<number> {
  const api = context.api()
  const claves = await api.guias.clavesPublicas({ signal: context.signal })
  let incompleteCount = 0
  const fallidas = await forEachCode(codigos, context, async (codigo) => {
    if (!(await downloadPrueba(api, codigo, claves, context))) incompleteCount++
  })
  return fallidas + incompleteCount
}

/**
 * Downloads all files of a proof into its folder. A new folder appears only when complete.
 *
 * @returns false if the PDF or the manifest is still missing
 */
async function downloadPrueba(api: Guias, codigo: string, claves: ClavesPublicas, context: Context) {
  const folder = folderOf(codigo, context)
  const foundPrueba = await waitForPdf(api, codigo, context)
  const archivos = archivosOf(foundPrueba)
  const downloadedFiles: [nombre: string, contenido: Buffer | string][] = []
  for (const [nombre, archivo] of archivos)
    downloadedFiles.push([nombre, await downloadFile(nombre, archivo, context.signal)])
  // Signed links expire, so the saved answer does not include them.
  const answerWithoutLinks = JSON.stringify(
    foundPrueba,
    (clave, valor) => (clave === 'url' || clave === 'vence_en' ? undefined : valor),
    2,
  )
  downloadedFiles.push([DATA_FILE, `${answerWithoutLinks}\n`])
  if (foundPrueba.manifiesto)
    downloadedFiles.push([MANIFEST_FILE, foundPrueba.manifiesto], [KEYS_FILE, `${JSON.stringify(claves, null, 2)}\n`])
  if (existsSync(folder)) {
    for (const [nombre, contenido] of downloadedFiles) await writeFileAtomically(join(folder, nombre), contenido)
  } else {
    await putAtomically(folder, (provisional) => {
      mkdirSync(provisional)
      for (const [nombre, contenido] of downloadedFiles) writeFileSync(join(provisional, nombre), contenido)
    })
  }
  const names = downloadedFiles.map(([nombre]) => nombre)
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

async function downloadFile(nombre: string, { url, sha256 }: ArchivoDePrueba, signal: AbortSignal) {
  const bytes = await download(url, nombre, signal)
  const actualDigest = createHash('sha256').update(bytes).digest('hex')
  if (sha256 === null || actualDigest === sha256) return bytes
  throw new DownloadError(`${nombre} llegó alterado: su huella no es la que dice el servicio. Repita la orden.`)
}

const EXTENSIONS: Record<string, string> = { 'image/jpeg': 'jpg', 'image/png': 'png', 'application/pdf': 'pdf' }
const conExtension = (nombre: string, { mime }: ArchivoDePrueba) => `${nombre}.${EXTENSIONS[mime] ?? 'bin'}`

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

async function waitForPdf({ guias }: Guias, codigo: string, { signal }: Context): Promise<PruebaDeEntrega> {
  for (let poll = 0; ; poll++) {
    const foundPrueba = await guias.pruebaEntrega(codigo, { signal })
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
    .filter((nombre) => /\.(jpg|png|pdf|bin)$/.test(nombre))
    .sort()
  try {
    const { manifiesto, archivos, kid } = await verificarPrueba({
      guia,
      manifiesto: leer(join(folder, MANIFEST_FILE)).trim(),
      claves: readKeys(context.texto('claves') ?? join(folder, KEYS_FILE)),
      archivos: names.map((nombre) => readFileSync(join(folder, nombre))),
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
  const numero = Number(/^El archivo (\d+) /.exec(message)?.[1])
  if (codigo === 'archivo') return `${names[numero - 1]} no es el que se firmó: se alteró, o es de otra guía`
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
