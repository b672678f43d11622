import { type Query, statement } from '../../data/db.ts'
import type { Decision, Estado } from '../../generado/contrato/tipos/index.ts'
import { Problema } from '../../platform/errors.ts'
import { leerIntentos } from '../comercios/comercio.ts'
import { type DecisionDeGuia, esperaDecision, estaTomada } from '../decisiones/decision.ts'
import { esRectificable } from '../estados/estados.ts'
import { darPaso, deGuia, type FilaEvento } from '../eventos/evento.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { conGuiaTomada, type Escritor, type GuiaTomada } from '../guias/tomada.ts'
import type { Handler } from '../operation.ts'
import { unaVezPorOperador } from './unaVez.ts'

export const rectificarGuia: Handler<'rectificarGuia'> = (entrada, deps) => {
  const { path, body, identidad } = entrada
  const { razon, secuencia } = body
  return unaVezPorOperador(deps, 'rectificarGuia', entrada, (recordar) =>
    conGuiaTomada(deps, 'todos', path.guia, secuencia, recordar, (escritor, tomada) =>
      rectificarTomada(escritor, tomada, { autor: identidad.operador, descripcion: razon }),
    ),
  )
}

/** Event in the guide's history that changed its state or its courier. */
type Cambio = Pick<
  FilaEvento,
  'secuencia' | 'tipo' | 'estado' | 'estado_anterior' | 'custodio' | 'ocurrido_en' | 'registrado_en'
> & {
  /** Sequence of the event that this event undoes; null for other events. */
  rectifica: number | null
  decision: Decision | null
  /** Value of the guide's decision before the event. */
  decision_anterior: Decision | null
}

const CAMBIOS = statement<ReturnType<typeof deGuia>, Cambio>(
  'eventos.cambios',
  `select e.secuencia, e.tipo, e.estado, e.estado_anterior, e.custodio, e.ocurrido_en, e.registrado_en,
     (e.datos ->> 'rectifica')::int as rectifica, e.foto -> 'decision' as decision,
     a.foto -> 'decision' as decision_anterior
   from evento e
   left join evento a on a.comercio_id = e.comercio_id and a.modo = e.modo and a.guia_id = e.guia_id
     and a.secuencia = e.secuencia - 1
   where e.comercio_id = :comercio_id and e.modo = :modo and e.guia_id = :guia_id
     and (e.estado is distinct from e.estado_anterior or e.custodio is not null)
   order by e.secuencia`,
)

const RECTIFICAR_PRUEBA = statement<ReturnType<typeof deGuia> & { secuencia: number; ahora: Date }>(
  'pruebas.rectificar',
  `update prueba_entrega set rectificada_en = :ahora::timestamptz
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and secuencia = :secuencia`,
)

/** Time after the registration of a delivery in which the delivery can be undone, in milliseconds. */
const PLAZO_DE_ENTREGA = 24 * 3_600_000

/**
 * Undoes the guide's last change of state that is not undone yet, in the transaction that locks the guide.
 * @returns the guide's row afterwards
 * @throws Problema 409 `transicion_invalida`
 */
async function rectificarTomada(
  { consultar, avisarTrabajo, reloj }: Escritor,
  tomada: GuiaTomada,
  quien: { autor: string; descripcion: string },
): Promise<FilaGuia> {
  const ahora = reloj()
  if (!esRectificable(tomada.estado)) throw noSeDeshace(tomada.estado, REMEDIOS[tomada.estado] ?? '')
  if (tomada.datos_borrados_en) throw noSeDeshace(tomada.estado, ': los datos de la persona ya se borraron.')
  const { deshecho, estado_en, custodio } = deshacer(await consultar(CAMBIOS, deGuia(tomada)))
  if (tomada.estado === 'entregado') exigirPlazo(deshecho.registrado_en, ahora)
  const dado = await darPaso({ db: { consultar }, avisarTrabajo }, tomada, {
    ...quien,
    tipo: 'guia.rectificada',
    estado: deshecho.estado_anterior!,
    ocurrido_en: ahora,
    registrado_en: ahora,
    datos: { rectifica: deshecho.secuencia },
    intentos: tomada.intentos - (deshecho.tipo === 'guia.intento_fallido' ? 1 : 0),
    decision: await decisionSin(consultar, tomada, deshecho, ahora),
    vuelta: { estado_en, custodio },
  })
  if (tomada.estado === 'entregado')
    await consultar(RECTIFICAR_PRUEBA, { ...deGuia(tomada), secuencia: deshecho.secuencia, ahora })
  return dado!.guia
}

/**
 * Finds the last change of state that is not undone, and the courier and time that the guide had before it.
 * @param cambios all changes of state and of courier, oldest first; the first one is the creation
 */
function deshacer(cambios: readonly Cambio[]): { deshecho: Cambio } & Pick<FilaGuia, 'estado_en' | 'custodio'> {
  const deshechos = new Set(cambios.map(({ rectifica }) => rectifica))
  const valen = cambios.filter(({ secuencia, rectifica }) => rectifica === null && !deshechos.has(secuencia))
  const [antes, deshecho] = valen.filter(({ estado, estado_anterior }) => estado !== estado_anterior).slice(-2)
  const custodio = valen.findLast((uno) => uno !== deshecho && uno.custodio !== null)?.custodio ?? null
  return { deshecho: deshecho!, estado_en: antes!.ocurrido_en, custodio }
}

/**
 * Returns the decision about the parcel after an event is undone; undefined if the decision does not change. Undoing a
 * failed attempt supersedes the decision that the attempt opened. Undoing an event that closed a decision opens it
 * again; a decision to return the parcel must then be taken again. A deadline that has passed meanwhile has no effect.
 */
async function decisionSin(
  consultar: Query,
  { decision: presente, comercio_id }: FilaGuia,
  { tipo, decision, decision_anterior: anterior }: Cambio,
  ahora: Date,
): Promise<DecisionDeGuia | undefined> {
  if (tipo === 'guia.intento_fallido')
    return esperaDecision(presente) || estaTomada(presente) ? superar(presente) : undefined
  if (anterior === null || sonIguales(decision, anterior) || !sonIguales(decision, presente)) return undefined
  if (!esperaDecision(anterior) && tipo !== 'guia.en_devolucion') return { valor: anterior, vence: null }
  if (anterior.vence_en === null) return superar(anterior)
  const vence_en = new Date(anterior.vence_en)
  const { al_vencer } = await leerIntentos({ consultar }, comercio_id)
  return {
    valor: { ...anterior, estado: 'pendiente', accion: null, fecha: null, franja: null, por: null },
    vence: al_vencer === 'devolver' && vence_en > ahora ? vence_en : null,
  }
}

const superar = (decision: Decision): DecisionDeGuia => ({
  valor: { ...decision, estado: 'superada' },
  vence: null,
})

/** Compares decisions as `jsonb` returns them, with their members in a fixed order. */
const sonIguales = (una: Decision | null, otra: Decision | null) => JSON.stringify(una) === JSON.stringify(otra)

function exigirPlazo(registrado_en: Date, ahora: Date): void {
  if (ahora.getTime() - registrado_en.getTime() <= PLAZO_DE_ENTREGA) return
  const mensaje = `La entrega se registró el ${registrado_en.toISOString()}, y solo se deshace durante 24 h. Anote lo que pasó con una nota.`
  throw new Problema('transicion_invalida', mensaje, { estado: 'entregado', transiciones: [] })
}

/** Ends of the error message for states that cannot be undone. */
const REMEDIOS: Readonly<Partial<Record<Estado, string>>> = {
  aceptado: ': todavía no hay ningún cambio que deshacer.',
  cancelado: ', que no se deshace. Si hace falta, cree otra guía.',
  devuelto: ', que no se deshace. Si hace falta, cree otra guía.',
}

const noSeDeshace = (estado: Estado, porque: string) =>
  new Problema('transicion_invalida', `La guía está en ${estado}${porque}`, { estado, transiciones: [] })
