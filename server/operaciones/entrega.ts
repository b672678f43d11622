import type { EntregaParaRegistrar } from '../contrato/generado/tipos/index.ts'
import type { Respuesta } from '../contrato/tipos.ts'
import type { Deps } from '../deps.ts'
import { problemaDeFallas } from '../errores.ts'
import { esFinal, exigirTransicion, reportables } from '../estados/estados.ts'
import { leerCambio } from '../eventos/cambio.ts'
import { buscarEvento, type FilaEvento, type Paso, presentarEvento, sinCarrera } from '../eventos/evento.ts'
import { buscarGuia, type FilaGuia } from '../guias/guia.ts'
import { entregar } from '../pruebasEntrega/entrega.ts'
import { buscarPrueba } from '../pruebasEntrega/prueba.ts'
import { type ApiDeSubida, type ArchivoPedido, estanSinUsar, fotosPedidas } from '../pruebasEntrega/uso.ts'
import { contenidoDe, esElMismo, huellaDeContenido, yaRegistrado } from './idempotencia.ts'

/** Who delivers, and where his pictures are uploaded to. */
interface Quien {
  /** op_… or rep_… */
  autor: string
  api: ApiDeSubida
}

/** A delivery with its proof, of an operator or a courier. */
export async function registrarConPrueba(
  {
    db,
    reloj,
    nuevoId,
    secretos,
    avisarTrabajo,
  }: Pick<Deps, 'db' | 'reloj' | 'nuevoId' | 'secretos' | 'avisarTrabajo'>,
  { autor, api }: Quien,
  codigo: string,
  body: EntregaParaRegistrar,
): Promise<Respuesta<'registrarEntrega'>> {
  const { ocurrido_en: dicho } = leerCambio(
    { estado: 'entregado', ...(body.ocurrido_en === undefined ? {} : { ocurrido_en: body.ocurrido_en }) },
    reloj(),
  )
  const contenido = contenidoDe(body)
  const huella = huellaDeContenido(secretos, contenido)
  const { evento, distancia_m, repetida } = await sinCarrera(async () => {
    const guia = await buscarGuia(db, 'todos', codigo)
    const anterior = await yaRegistrada({ db, secretos }, guia, body.idempotencia, contenido)
    if (anterior) return { ...anterior, repetida: true }
    const registrado_en = reloj()
    const paso: Paso = {
      ...pasoDeEntrega(guia, dicho ?? new Date(Math.max(registrado_en.getTime(), guia.estado_desde.getTime()))),
      registrado_en,
      descripcion: body.descripcion ?? null,
      lat: body.lat ?? null,
      lng: body.lng ?? null,
      autor,
      idempotencia: body.idempotencia ?? null,
      huella,
    }
    if (!(await estanSinUsar(db, guia, pedidosDe(body), api))) return undefined
    const dado = await entregar({ db, nuevoId, avisarTrabajo }, guia, paso, body)
    return dado && { ...dado, repetida: false }
  })
  const respuesta = { ...presentarEvento(evento), aplicado: true, distancia_m }
  return repetida
    ? { status: 200, headers: { 'Idempotent-Replayed': 'true' }, body: respuesta }
    : { status: 201, body: respuesta }
}

/**
 * The same delivery again: by its key, or because the guide's own proof was registered with just these words. The key stands
 * for it also once the proof is gone.
 */
async function yaRegistrada(
  { db, secretos }: Pick<Deps, 'db' | 'secretos'>,
  guia: FilaGuia,
  idempotencia: string | undefined,
  contenido: string,
): Promise<{ evento: FilaEvento; distancia_m: number | null } | undefined> {
  const porClave = await yaRegistrado({ db, secretos }, guia, idempotencia, contenido)
  const prueba = guia.estado === 'entregado' ? await buscarPrueba(db, guia) : undefined
  const evento = porClave ?? (prueba && (await buscarEvento(db, guia, prueba.secuencia)))
  return evento && esElMismo(secretos, evento, contenido)
    ? { evento, distancia_m: prueba?.distancia_m ?? null }
    : undefined
}

/** @throws Problema 409, or 422 for a delivery before there was anything to deliver */
function pasoDeEntrega(guia: FilaGuia, ocurrido_en: Date): Pick<Paso, 'tipo' | 'estado' | 'ocurrido_en' | 'datos'> {
  // What was known late is weighed against what was known before: a proof outweighs a scan, unless all is over.
  const tardio = ocurrido_en < guia.estado_desde && !esFinal(guia.estado)
  if (tardio && ocurrido_en < guia.creado_en) {
    const mensaje = `no puede ser antes de que la guía existiera (${guia.creado_en.toISOString()})`
    throw problemaDeFallas('validacion', [{ campo: '/ocurrido_en', codigo: 'fuera_de_rango', mensaje }])
  }
  if (!tardio) {
    exigirTransicion(guia.estado, 'entregado', reportables(guia.estado))
  }
  return { tipo: 'guia.entregado', estado: 'entregado', ocurrido_en, datos: tardio ? { tardio } : null }
}

const pedidosDe = ({ fotos, firma }: EntregaParaRegistrar): ArchivoPedido[] => [
  ...fotosPedidas(fotos),
  ...(firma === undefined ? [] : [{ archivo: firma, tipo: 'firma' as const, campo: '/firma' }]),
]
