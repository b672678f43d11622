import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchivoDePrueba, ClavesPublicas, Guias, PruebaDeEntrega } from '@guias/sdk'
import { ErrorPrueba, verificarPrueba } from '@guias/sdk/verificar'
import { descargar, ErrorDeDescarga, escribirEntero, exigirLibres, ponerEntero } from './archivos.ts'
import { canonico, conCada, leerCodigos, OPCION_DE_CODIGOS } from './codigos.ts'
import { type Contexto, dormirSinError, ErrorDeUso, type Orden, SALIDA } from './orden.ts'
import { porque } from './porque.ts'
import { avisar, decir, hora, limpio, pintar, pintarAviso } from './terminal.ts'

const MANIFIESTO = 'manifiesto.jws'
const CLAVES = 'claves.json'
const DATOS = 'prueba.json'

export const prueba: Orden = {
  resumen: 'descarga la prueba de entrega, y comprueba que es auténtica',
  uso: ['prueba <guia>… [opciones]', 'prueba --archivo codigos.txt [opciones]'],
  explica: `Descarga a la carpeta prueba-<guia> las fotos, la firma y el PDF de la entrega,
con su manifiesto firmado y las claves públicas con que se comprueba.

Con --verificar comprueba la firma del manifiesto (EdDSA) y que cada archivo es,
byte por byte, el que se firmó. Lo que ya está descargado se comprueba ahí mismo,
sin red y sin llave, hoy o dentro de años.`,
  opciones: {
    verificar: { dice: 'comprueba la firma y los archivos; los descarga si no están' },
    claves: { valor: '<ruta>', dice: 'con qué claves públicas comprobar; si falta, las que se descargaron' },
    carpeta: { valor: '<ruta>', dice: 'dónde hacer las carpetas; aquí si falta' },
    forzar: { dice: 'descarga otra vez lo que ya esté' },
    ...OPCION_DE_CODIGOS,
  },
  posicionales: [0, Number.POSITIVE_INFINITY],
  ejemplos: ['prueba 7K3M9QX2A1B4 --verificar'],
  async ejecutar(contexto) {
    const codigos = (await leerCodigos(contexto)).map(canonico)
    const [verifica, forzar] = [contexto.si('verificar'), contexto.si('forzar')]
    if (contexto.texto('claves') !== undefined && !verifica) throw new ErrorDeUso('--claves va con --verificar.')
    const estan = codigos.filter((codigo) => existsSync(carpetaDe(codigo, contexto)))
    if (!verifica) {
      const remedio = 'compruebe lo que hay con --verificar, elija otro lugar con --carpeta'
      exigirLibres(
        estan.map((codigo) => carpetaDe(codigo, contexto)),
        forzar,
        remedio,
      )
    }
    const porBajar = forzar ? codigos : codigos.filter((codigo) => !estan.includes(codigo))
    let fallidas = porBajar.length > 0 ? await bajarTodas(porBajar, contexto) : 0
    if (verifica) {
      const bajadas = codigos.filter((codigo) => existsSync(carpetaDe(codigo, contexto)))
      for (const codigo of bajadas) if (!(await comprobar(codigo, contexto))) fallidas++
    }
    return fallidas > 0 ? SALIDA.rechazo : SALIDA.bien
  },
}

function carpetaDe(codigo: string, contexto: Contexto): string {
  if (!/^\w+$/.test(codigo)) throw new ErrorDeUso(`«${limpio(codigo)}» no es el código de una guía.`)
  return join(contexto.texto('carpeta') ?? '.', `prueba-${codigo}`)
}

async function bajarTodas(codigos: string[], contexto: Contexto): Promise<number> {
  const api = contexto.api()
  const claves = await api.guias.clavesPublicas({ signal: contexto.signal })
  let incompletas = 0
  const fallidas = await conCada(codigos, contexto, async (codigo) => {
    if (!(await bajar(api, codigo, claves, contexto))) incompletas++
  })
  return fallidas + incompletas
}

/**
 * Downloads all files of a proof into its folder. A new folder appears only when complete.
 *
 * @returns false if the PDF or the manifest is still missing
 */
async function bajar(api: Guias, codigo: string, claves: ClavesPublicas, contexto: Contexto) {
  const carpeta = carpetaDe(codigo, contexto)
  const hallada = await esperarPdf(api, codigo, contexto)
  const archivos = archivosDe(hallada)
  const bajados: [nombre: string, contenido: Buffer | string][] = []
  for (const [nombre, archivo] of archivos) bajados.push([nombre, await traer(nombre, archivo, contexto.signal)])
  // Signed links expire, so the saved answer does not include them.
  const sinEnlaces = JSON.stringify(
    hallada,
    (clave, valor) => (clave === 'url' || clave === 'vence_en' ? undefined : valor),
    2,
  )
  bajados.push([DATOS, `${sinEnlaces}\n`])
  if (hallada.manifiesto)
    bajados.push([MANIFIESTO, hallada.manifiesto], [CLAVES, `${JSON.stringify(claves, null, 2)}\n`])
  if (existsSync(carpeta)) {
    for (const [nombre, contenido] of bajados) await escribirEntero(join(carpeta, nombre), contenido)
  } else {
    await ponerEntero(carpeta, (provisional) => {
      mkdirSync(provisional)
      for (const [nombre, contenido] of bajados) writeFileSync(join(provisional, nombre), contenido)
    })
  }
  const nombres = bajados.map(([nombre]) => nombre)
  if (contexto.json) decir(JSON.stringify({ guia: hallada.guia, carpeta, archivos: nombres }))
  else {
    const { recibido_por, entregado_en } = hallada
    decir(`${pintar('fuerte', limpio(hallada.guia))}  ${hora(entregado_en)}  recibió ${limpio(recibido_por.nombre)}`)
    decir(`  ${carpeta}: ${nombres.join(', ')}`)
  }
  if (hallada.pdf && hallada.manifiesto) return true
  avisar(`El PDF de ${limpio(hallada.guia)} todavía se está haciendo: repita la orden con --forzar en un minuto.`)
  return false
}

async function traer(nombre: string, { url, sha256 }: ArchivoDePrueba, signal: AbortSignal) {
  const bytes = await descargar(url, nombre, signal)
  const suyo = createHash('sha256').update(bytes).digest('hex')
  if (sha256 === null || suyo === sha256) return bytes
  throw new ErrorDeDescarga(`${nombre} llegó alterado: su huella no es la que dice el servicio. Repita la orden.`)
}

const EXTENSIONES: Record<string, string> = { 'image/jpeg': 'jpg', 'image/png': 'png', 'application/pdf': 'pdf' }
const conExtension = (nombre: string, { mime }: ArchivoDePrueba) => `${nombre}.${EXTENSIONES[mime] ?? 'bin'}`

const archivosDe = ({ fotos, firma, pdf }: PruebaDeEntrega): [nombre: string, archivo: ArchivoDePrueba][] => [
  ...fotos.map((foto, i): [string, ArchivoDePrueba] => [conExtension(`foto-${i + 1}`, foto), foto]),
  ...(firma ? [[conExtension('firma', firma), firma] satisfies [string, ArchivoDePrueba]] : []),
  ...(pdf ? [[conExtension('prueba', pdf), pdf] satisfies [string, ArchivoDePrueba]] : []),
]

/**
 * Number of polls and milliseconds between polls: 30 s in total. The PDF and the manifest are ready some seconds after
 * the delivery.
 */
const ESPERAS = 20
const ENTRE_ESPERAS = 1_500

async function esperarPdf({ guias }: Guias, codigo: string, { signal }: Contexto): Promise<PruebaDeEntrega> {
  for (let vez = 0; ; vez++) {
    const hallada = await guias.pruebaEntrega(codigo, { signal })
    if ((hallada.pdf && hallada.manifiesto) || vez === ESPERAS) return hallada
    if (vez === 0) avisar('El PDF se está haciendo; espero…')
    await dormirSinError(ENTRE_ESPERAS, signal)
  }
}

/**
 * Verifies the files in the folder, offline.
 *
 * @returns true if the proof is authentic and no signed file is missing
 */
async function comprobar(guia: string, contexto: Contexto): Promise<boolean> {
  const carpeta = carpetaDe(guia, contexto)
  const nombres = readdirSync(carpeta)
    .filter((nombre) => /\.(jpg|png|pdf|bin)$/.test(nombre))
    .sort()
  try {
    const { manifiesto, archivos, kid } = await verificarPrueba({
      guia,
      manifiesto: leer(join(carpeta, MANIFIESTO)).trim(),
      claves: leerClaves(contexto.texto('claves') ?? join(carpeta, CLAVES)),
      archivos: nombres.map((nombre) => readFileSync(join(carpeta, nombre))),
    })
    const ausentes = manifiesto.archivos.length - new Set(archivos.map(({ archivo }) => archivo)).size
    if (contexto.json) decir(JSON.stringify({ guia, autentica: true, completa: ausentes === 0, kid, manifiesto }))
    else {
      decir(
        `${pintar('verde', 'Auténtica')}  ${guia}, entregada ${hora(manifiesto.entregado_en)}; ${archivos.length} archivos intactos`,
      )
      if (ausentes > 0)
        avisar(`${pintarAviso('amarillo', 'Revise')}  faltan ${ausentes} de los archivos firmados en ${carpeta}`)
    }
    return ausentes === 0
  } catch (error) {
    if (!(error instanceof ErrorPrueba)) throw error
    const que = decirFallo(error, nombres)
    if (contexto.json) decir(JSON.stringify({ guia, autentica: false, codigo: error.codigo, mensaje: que }))
    else avisar(`${pintarAviso('rojo', 'NO es auténtica')}  ${guia}: ${que}`)
    return false
  }
}

function decirFallo({ codigo, message }: ErrorPrueba, nombres: string[]): string {
  const numero = Number(/^El archivo (\d+) /.exec(message)?.[1])
  if (codigo === 'archivo') return `${nombres[numero - 1]} no es el que se firmó: se alteró, o es de otra guía`
  if (codigo === 'clave_desconocida')
    return 'ninguna de las claves es la que firmó: descárguela otra vez con --forzar, o dé otras con --claves'
  if (codigo === 'claves') return 'las claves no son las del servicio ({ "keys": […] }): dé otras con --claves'
  if (codigo === 'firma')
    return 'la firma no corresponde al manifiesto: se alteró, o las claves no son las de quien lo firmó'
  return message
}

function leerClaves(ruta: string): ClavesPublicas {
  try {
    return JSON.parse(leer(ruta))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new ErrorDeUso(`${ruta} no es JSON: dé las claves del servicio ({ "keys": […] }) con --claves.`)
  }
}

function leer(ruta: string): string {
  try {
    return readFileSync(ruta, 'utf8')
  } catch (error) {
    throw new ErrorDeUso(`No se pudo leer ${ruta}: ${porque(error)}. Descargue la prueba entera con --forzar.`)
  }
}
