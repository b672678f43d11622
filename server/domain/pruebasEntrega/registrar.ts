import type { DeclaredResponse } from '../../api/contract/handler.ts'
import type { Db } from '../../data/db.ts'
import type { EntregaParaRegistrar, Falla } from '../../generado/contrato/tipos/index.ts'
import { problemOfFaults } from '../../platform/errors.ts'
import { leerPolitica } from '../comercios/comercio.ts'
import { trasEstado } from '../decisiones/decision.ts'
import type { Deps } from '../deps.ts'
import { esFinal, exigirTransicion } from '../estados/estados.ts'
import {
  buscarEvento,
  darPaso,
  darPasoCon,
  type PasoConConsecuencias,
  type PasoDeGuia,
  presentarEvento,
} from '../eventos/evento.ts'
import {
  contestar,
  type EventoRegistrado,
  type Informante,
  type Informe,
  registrarUnaVez,
} from '../eventos/registrar.ts'
import { buscarGuia, type FilaGuia } from '../guias/guia.ts'
import { anotarIntento, buscarPrueba, entregar, leerArchivos, leerPruebas } from './prueba.ts'

/** Registers a delivery with its proof. Repeating a delivery returns the event of the first time. */
export async function registrarConPrueba(
  deps: Pick<Deps, 'db' | 'reloj' | 'nuevoId' | 'secretos' | 'avisarTrabajo'>,
  { api, ...quien }: Informante & Pick<Remitente, 'api'>,
  codigo: string,
  body: EntregaParaRegistrar & Pick<Informe, 'idempotencia'>,
): Promise<DeclaredResponse<'registrarEntrega'>> {
  const { db } = deps
  const registro = await registrarUnaVez(deps, quien, codigo, body, {
    estado: 'entregado',
    async dar(guia, informado) {
      const decision = trasEstado(guia.decision, 'entregado')
      const paso = { ...informado, ...decidirEntrega(guia, informado.ocurrido_en), decision }
      const politica = await leerPolitica(db, guia.comercio_id)
      const pedida = api === '/repartidor/v1' ? body.evidencia : politica
      return (await estanSinUsar(db, guia, pedidosDe(body), { autor: quien.autor, api }))
        ? entregar(deps, guia, paso, body, { politica, pedida })
        : undefined
    },
    // A delivered guide has one proof. A request with the same content as that proof is a repetition, with or without
    // an idempotency key.
    async buscarAnterior(guia) {
      const prueba = guia.estado === 'entregado' ? await buscarPrueba(db, guia) : undefined
      return prueba && buscarEvento(db, guia, prueba.secuencia)
    },
  })
  const { distancia_m = null } = registro.repetido ? ((await pruebaDe(db, registro)) ?? {}) : registro
  return contestar(registro, { ...presentarEvento(registro.evento), aplicado: true, distancia_m })
}

/** Returns the proof of a delivery's own event. The guide's proof is another one if the delivery was undone since. */
const pruebaDe = async (db: Db, { guia, evento }: Pick<EventoRegistrado, 'guia' | 'evento'>) =>
  (await leerPruebas(db, guia)).find(({ secuencia }) => secuencia === evento.secuencia)

/**
 * Returns what a delivery changes in the guide. A late report of a delivery is still applied unless the guide is in a
 * final state, because a proof outweighs a scan.
 * @throws Problema 409, or 422 for a delivery before the guide existed
 */
function decidirEntrega(guia: FilaGuia, ocurrido_en: Date): Pick<PasoDeGuia, 'tipo' | 'estado' | 'datos'> {
  const tardio = ocurrido_en < guia.estado_en && !esFinal(guia.estado)
  if (tardio && ocurrido_en < guia.creado_en) {
    const mensaje = `no puede ser antes de que la guía existiera (${guia.creado_en.toISOString()})`
    throw problemOfFaults('validacion', [{ campo: '/ocurrido_en', codigo: 'fuera_de_rango', mensaje }])
  }
  if (!tardio) exigirTransicion(guia.estado, 'entregado')
  return { tipo: 'guia.entregado', estado: 'entregado', datos: tardio ? { tardio } : null }
}

const pedidosDe = ({ fotos, firma }: EntregaParaRegistrar): ArchivoPedido[] => [
  ...fotosPedidas(fotos),
  ...(firma === undefined ? [] : [{ archivo: firma, tipo: 'firma' as const, campo: '/firma' }]),
]

/**
 * Returns the function that writes the event of a scan or note. If the report has photos, the photos are stored as
 * proof of a failed attempt.
 */
export const darPasoConFotos =
  (deps: Pick<Deps, 'db' | 'avisarTrabajo'>, de: Remitente, fotos: readonly string[] = []) =>
  async (guia: FilaGuia, paso: PasoConConsecuencias) => {
    if (fotos.length === 0) return paso.luego ? darPasoCon(deps, guia, paso) : darPaso(deps, guia, paso)
    return (await estanSinUsar(deps.db, guia, fotosPedidas(fotos), de))
      ? anotarIntento(deps, guia, paso, fotos)
      : undefined
  }

/** File that a request names, and the member that names it. */
interface ArchivoPedido {
  archivo: string
  tipo: 'foto' | 'firma'
  campo: string
}

const fotosPedidas = (fotos: readonly string[]): ArchivoPedido[] =>
  fotos.map((archivo, i) => ({ archivo, tipo: 'foto', campo: `/fotos/${i}` }))

/** Code of the person who reports, and the API through which that person uploads files. */
interface Remitente {
  autor: string
  api: '/operaciones/v1' | '/repartidor/v1'
}

/**
 * Reports whether the author may use each of these files, and each belongs to the guide, has the right type and is
 * unused. Returns false if another request changed the guide: the same request, sent twice, may have used the files.
 * @throws Problema 422 naming each file that fails a check
 */
async function estanSinUsar(
  db: Db,
  guia: FilaGuia,
  pedidos: readonly ArchivoPedido[],
  { autor, api }: Remitente,
): Promise<boolean> {
  const nombres = pedidos.map(({ archivo }) => archivo)
  const suyos = await leerArchivos(db, guia, nombres)
  const fallas = pedidos.flatMap(({ archivo, tipo, campo }): Falla[] => {
    const dado = suyos.get(archivo)
    // A photo by one courier proves nothing about another courier's delivery, so couriers use only their own files.
    // Operators use any file.
    const fila = api === '/operaciones/v1' || dado?.autor === autor ? dado : undefined
    if (fila?.tipo === tipo && fila.usado_en === null) return []
    const mensaje = fila
      ? `debe ser una ${tipo} sin usar; ese archivo es ${fila.tipo}${fila.usado_en ? ' y ya está en una prueba' : ''}`
      : `no es un archivo suyo de esta guía; súbalo a POST ${api}/guias/${guia.guia}/archivos`
    return [{ campo, codigo: 'valor_no_admitido', mensaje }]
  })
  if (fallas.length === 0) return true
  if ((await buscarGuia(db, 'todos', guia.guia)).secuencia !== guia.secuencia) return false
  throw problemOfFaults('validacion', fallas)
}
