import { statement } from '../../data/db.ts'
import type { DecisionSimulada, Falla } from '../../generado/contrato/tipos/index.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { exigirSinTomar, type Respuesta, responderTomada, vencerTomada } from '../decisiones/decidir.ts'
import { esperaDecision } from '../decisiones/decision.ts'
import { deGuia } from '../eventos/evento.ts'
import { buscarGuia, type FilaGuia, presentar } from '../guias/guia.ts'
import { conGuiaTomada, type Escritor } from '../guias/tomada.ts'
import { unaVez } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { type LugarPropuesto, type Propuesta, proponer } from '../ubicacion/ubicacion.ts'
import { exigirModoTest } from './simulador.ts'
import { sacarMensajes } from './solicitud.ts'

export const simularDecision: Handler<'simularDecision'> = async (entrada, deps) => {
  const { path, identidad } = entrada
  exigirModoTest(identidad)
  const { hecho: guia, headers } = await unaVez(deps, 'simularDecision', entrada, {
    async hacer(recordar) {
      const respuesta = leer(entrada.body)
      const propuesta = respuesta?.eleccion === 'otro_lugar' ? proponerLugar(respuesta.lugar) : undefined
      await sacarMensajes(deps, await buscarGuia(deps.db, identidad, path.guia))
      return conGuiaTomada(deps, identidad, path.guia, undefined, recordar, async (escritor, tomada) => {
        if (!respuesta) return vencerPlazo(escritor, tomada)
        exigirEnEspera(tomada, escritor.reloj())
        return responderTomada(deps, escritor, tomada, respuesta, propuesta)
      })
    },
    releer: (guia) => buscarGuia(deps.db, identidad, guia),
  })
  return { status: 200, headers, body: presentar(deps.ajustes, guia) }
}

/** Members that each choice needs or allows, besides `eleccion`. */
const LLEVA: Readonly<Record<DecisionSimulada['eleccion'], readonly ('fecha' | 'lugar' | 'vecino')[]>> = {
  otro_dia: ['fecha'],
  otro_lugar: ['fecha', 'lugar'],
  vecino: ['fecha', 'vecino'],
  rechazo: [],
  ninguna: [],
}

/**
 * Returns the answer that the recipient's page would send; undefined if the simulated recipient does not decide.
 * @throws Problema 422 that names each member that is missing, or that does not belong to the choice
 */
function leer({ eleccion, ...resto }: DecisionSimulada): Respuesta | undefined {
  const { fecha, lugar, vecino } = resto
  const fallas = (['fecha', 'lugar', 'vecino'] as const)
    .filter((campo) => resto[campo] !== undefined && !LLEVA[eleccion].includes(campo))
    .map(
      (campo): Falla => ({
        campo: `/${campo}`,
        codigo: 'incompatible',
        mensaje: `no va con la elección ${eleccion}; omítalo`,
      }),
    )
  const falta = (campo: string, que: string) =>
    fallas.push({ campo, codigo: 'requerido', mensaje: `falta: con esa elección diga ${que}` })
  if (eleccion === 'otro_lugar' && !lugar) falta('/lugar', 'a qué lugar se lleva')
  if (eleccion === 'vecino' && !vecino) falta('/vecino', 'qué vecino lo recibe')
  if (fallas.length > 0) throw problemOfFaults('validacion', fallas)
  switch (eleccion) {
    case 'otro_dia':
      return { eleccion, fecha }
    case 'otro_lugar':
      return { eleccion, fecha, lugar: lugarDe(lugar!) }
    case 'vecino':
      return { eleccion, fecha, vecino: { nombre: vecino!.nombre.trim(), donde: vecino!.donde?.trim() ?? '' } }
    case 'rechazo':
      return { eleccion }
    case 'ninguna':
      return undefined
  }
}

/**
 * Converts the requested place to the recipient's form. The simulated recipient has confirmed the place, however far
 * away it is.
 */
const lugarDe = ({ maps_url, ...lugar }: NonNullable<DecisionSimulada['lugar']>): LugarPropuesto => ({
  ...lugar,
  ...(maps_url === undefined ? {} : { enlace: maps_url }),
  seguro: true,
  cambiar: true,
  metodo: lugar.lat !== undefined ? 'mapa' : maps_url !== undefined ? 'enlace' : 'descripcion',
})

/**
 * Converts the place as the recipient's page would.
 * @throws Problema 422 if the page would not accept the place
 */
function proponerLugar(lugar: LugarPropuesto): Propuesta {
  const propuesta = proponer(lugar)
  if (!('motivo' in propuesta)) return propuesta
  const campo = lugar.metodo === 'enlace' ? '/lugar/maps_url' : '/lugar/referencia'
  throw problemOfFaults('validacion', [{ campo, codigo: 'formato_invalido', mensaje: propuesta.mensaje }])
}

/**
 * Requires that the recipient may still decide.
 * @throws Problema 409
 */
function exigirEnEspera(tomada: FilaGuia, ahora: Date): void {
  exigirSinTomar(tomada)
  const { decision, estado } = tomada
  if (!esperaDecision(decision)) throw noSeEspera(tomada)
  if (estado === 'extraviado')
    throw noAdmitida(tomada, 'El paquete está extraviado: el destinatario no decide hasta que aparezca.')
  if (vencio(decision, ahora))
    throw noAdmitida(tomada, `El plazo venció el ${decision.vence_en}; el destinatario ya no puede decidir.`)
}

const vencio = ({ vence_en }: NonNullable<FilaGuia['decision']>, ahora: Date) =>
  vence_en !== null && Date.parse(vence_en) <= ahora.getTime()

const noAdmitida = ({ estado }: FilaGuia, mensaje: string) =>
  new Problema('decision_no_admitida', mensaje, { estado, opciones: [] })

const noSeEspera = (tomada: FilaGuia) =>
  noAdmitida(tomada, `La guía está en ${tomada.estado} y no espera una decisión del destinatario.`)

/** Ends a guide's open decision, and its link, at `:ahora`. `:vence` is the same instant in the contract's format. */
const ACORTAR = statement<ReturnType<typeof deGuia> & { ahora: Date; vence: string }, FilaGuia>(
  'simulador.acortarDecision',
  `with m as (
     update mensaje set vence_en = :ahora::timestamptz
     where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and tipo = 'solicitud_decision'
       and vence_en > :ahora
   ), l as (
     update enlace_ubicacion l set vence_en = :ahora from mensaje o
     where l.comercio_id = :comercio_id and l.modo = :modo and l.guia_id = :guia_id and l.vence_en > :ahora
       and o.comercio_id = l.comercio_id and o.modo = l.modo and o.guia_id = l.guia_id and o.numero = l.numero
       and o.tipo = 'solicitud_decision'
   )
   update guia set decision = jsonb_set(decision, '{vence_en}', to_jsonb(:vence::text)),
     decision_vence = case when decision_vence is not null then :ahora end
   where comercio_id = :comercio_id and modo = :modo and id = :guia_id returning *`,
)

/**
 * Lets the deadline of a locked guide's decision pass now, and applies the merchant's policy as the job would. A
 * deadline that has already passed stays the same.
 * @throws Problema 409 if the decision was taken, or if none is open
 */
async function vencerPlazo(escritor: Escritor, tomada: FilaGuia): Promise<FilaGuia> {
  const { decision } = tomada
  if (decision?.por === 'politica') return tomada
  exigirSinTomar(tomada)
  if (!esperaDecision(decision)) throw noSeEspera(tomada)
  const ahora = escritor.reloj()
  if (vencio(decision, ahora)) return vencerTomada(escritor, tomada)
  const [vencida] = await escritor.consultar(ACORTAR, { ...deGuia(tomada), ahora, vence: ahora.toISOString() })
  return vencerTomada(escritor, vencida!)
}
