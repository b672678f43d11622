import type { EntregaParaRegistrar } from '../contrato/generado/tipos/index.ts'
import type { Respuesta } from '../contrato/tipos.ts'
import type { Deps } from '../deps.ts'
import { problemaDeFallas } from '../errores.ts'
import { esFinal, exigirTransicion, reportables } from '../estados/estados.ts'
import { buscarEvento, darPaso, type Paso, presentarEvento } from '../eventos/evento.ts'
import { contestar, registrarUnaVez } from '../eventos/registrar.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { entregar } from './entrega.ts'
import { anotarIntento } from './intento.ts'
import { buscarPrueba } from './prueba.ts'
import { type ApiDeSubida, type ArchivoPedido, estanSinUsar, fotosPedidas } from './uso.ts'

/** Registers a delivery with its proof, of an operator or a courier. */
export async function registrarConPrueba(
  deps: Pick<Deps, 'db' | 'reloj' | 'nuevoId' | 'secretos' | 'avisarTrabajo'>,
  { autor, api }: { autor: string; api: ApiDeSubida },
  codigo: string,
  body: EntregaParaRegistrar,
): Promise<Respuesta<'registrarEntrega'>> {
  const { db } = deps
  const registro = await registrarUnaVez(deps, { ambito: 'todos', autor }, codigo, body, {
    async dar(guia, informado) {
      const paso = { ...informado, ...decidirEntrega(guia, informado.ocurrido_en) }
      return (await estanSinUsar(db, guia, pedidosDe(body), api)) ? entregar(deps, guia, paso, body) : undefined
    },
    // A delivered guide has one proof: words that are just its own are that delivery again, with or without a key.
    async buscarAnterior(guia) {
      const prueba = guia.estado === 'entregado' ? await buscarPrueba(db, guia) : undefined
      return prueba && buscarEvento(db, guia, prueba.secuencia)
    },
  })
  const { distancia_m = null } = registro.repetido ? ((await buscarPrueba(db, registro.guia)) ?? {}) : registro
  return contestar(registro, { ...presentarEvento(registro.evento), aplicado: true, distancia_m })
}

/**
 * What a delivery makes of the guide as it is now. One that became known late is applied all the same, unless all is over: a
 * proof outweighs a scan.
 * @throws Problema 409, or 422 for a delivery before there was anything to deliver
 */
function decidirEntrega(guia: FilaGuia, ocurrido_en: Date): Pick<Paso, 'tipo' | 'estado' | 'datos'> {
  const tardio = ocurrido_en < guia.estado_en && !esFinal(guia.estado)
  if (tardio && ocurrido_en < guia.creado_en) {
    const mensaje = `no puede ser antes de que la guía existiera (${guia.creado_en.toISOString()})`
    throw problemaDeFallas('validacion', [{ campo: '/ocurrido_en', codigo: 'fuera_de_rango', mensaje }])
  }
  if (!tardio) exigirTransicion(guia.estado, 'entregado', reportables(guia.estado))
  return { tipo: 'guia.entregado', estado: 'entregado', datos: tardio ? { tardio } : null }
}

const pedidosDe = ({ fotos, firma }: EntregaParaRegistrar): ArchivoPedido[] => [
  ...fotosPedidas(fotos),
  ...(firma === undefined ? [] : [{ archivo: firma, tipo: 'firma' as const, campo: '/firma' }]),
]

/** Takes the step of a reading; the photos that came with it prove a failed attempt. */
export const darPasoConFotos =
  (deps: Pick<Deps, 'db' | 'avisarTrabajo'>, api: ApiDeSubida, fotos: readonly string[] = []) =>
  async (guia: FilaGuia, paso: Paso) => {
    if (fotos.length === 0) return darPaso(deps, guia, paso)
    return (await estanSinUsar(deps.db, guia, fotosPedidas(fotos), api))
      ? anotarIntento(deps, guia, paso, fotos)
      : undefined
  }
