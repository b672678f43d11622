import type {
  EntregaParaRegistrar,
  EvidenciaDePrueba,
  EvidenciaQueFalta,
  Falla,
  PoliticaDeEvidencia,
} from '../../generated/contract/types/index.ts'
import { problemOfFaults } from '../../platform/errors.ts'

/** Members of a delivery to which a merchant's evidence policy applies. */
type PresentedEntrega = Pick<EntregaParaRegistrar, 'recibido_por' | 'fotos' | 'firma' | 'sin_firma'>

/** Evidence policies that apply to a delivery. */
export interface EvidencePolicies {
  /** Policy of the merchant at present. */
  politica: PoliticaDeEvidencia
  /** Policy that the courier's page applied at the door; undefined if the page did not know of any policy. */
  doorPolicy: PoliticaDeEvidencia | undefined
}

/**
 * Checks a delivery against its merchant's evidence policy. A delivery with all evidence that the page asked for at the
 * door is accepted, even if the merchant needs more now. The result then lists what is missing.
 * @returns the delivery without what the merchant does not want to be stored, and the result of the check
 * @throws Problema 422 that names each member that is missing or not allowed
 */
export function judgeEvidence<T extends PresentedEntrega>(
  policy: PoliticaDeEvidencia,
  doorPolicy: EvidencePolicies['doorPolicy'],
  entrega: T,
): { admitted: T; judgement: EvidenciaDePrueba } {
  const { firma, sin_firma } = entrega
  if (firma !== undefined && sin_firma !== undefined) throw problemOfFaults('validacion', [FIRMA_AND_REASON])
  const defects = defectsOf(policy, entrega)
  const metDoorPolicy = doorPolicy === undefined || defectsOf(doorPolicy, entrega).length === 0
  if (defects.length > 0 && !metDoorPolicy) {
    throw problemOfFaults(
      'validacion',
      defects.map(({ fault }) => fault),
    )
  }
  const faltas = defects.flatMap(({ missing }) => missing ?? [])
  const pagina_anterior = doorPolicy === undefined || defects.length > 0
  return { admitted: withoutRefused(policy, entrega), judgement: { ...policy, faltas, pagina_anterior } }
}

const FIRMA_AND_REASON: Falla = {
  campo: '/sin_firma',
  codigo: 'incompatible',
  mensaje: 'sobra, porque la entrega trae la firma; omita una de las dos',
}

/** Violation of an evidence policy; `missing` names missing evidence. */
interface Defect {
  fault: Falla
  missing?: EvidenciaQueFalta
}

function defectsOf(policy: PoliticaDeEvidencia, entrega: PresentedEntrega): Defect[] {
  const { fotos_minimas, firma: firmaRule, documento: documentRule } = policy
  const { recibido_por, fotos, firma, sin_firma } = entrega
  const { documento } = recibido_por
  const defects: Defect[] = []
  const addMissing = (evidence: EvidenciaQueFalta, campo: string, codigo: Falla['codigo'], mensaje: string) =>
    defects.push({ missing: evidence, fault: { campo, codigo, mensaje } })
  const refuse = (campo: string, refusedEvidence: string) =>
    defects.push({
      fault: {
        campo,
        codigo: 'incompatible',
        mensaje: `el comercio no admite ${refusedEvidence} en sus entregas; omítalo`,
      },
    })
  if (fotos.length < fotos_minimas) {
    const mensaje = `el comercio pide ${fotos_minimas} fotos por lo menos y trae ${fotos.length}; suba las demás con …/archivos`
    addMissing('fotos', '/fotos', 'largo_invalido', mensaje)
  }
  if (firmaRule === 'obligatoria' && firma === undefined && sin_firma === undefined) {
    const mensaje =
      'falta, y el comercio la pide; súbala con …/archivos, o diga en sin_firma por qué no la hay: no_puede_firmar, se_nego o sin_contacto'
    addMissing('firma', '/firma', 'requerido', mensaje)
  }
  if (firmaRule === 'no' && firma !== undefined) refuse('/firma', 'la firma')
  if (firmaRule === 'no' && sin_firma !== undefined) refuse('/sin_firma', 'la firma')
  if (documentRule === 'obligatoria' && documento === undefined) {
    const mensaje = 'falta, y el comercio lo pide; escriba el número del documento que mostró quien recibió'
    addMissing('documento', '/recibido_por/documento', 'requerido', mensaje)
  }
  if (documentRule === 'no' && documento !== undefined) refuse('/recibido_por/documento', 'el número del documento')
  return defects
}

/**
 * Removes the members that the merchant does not allow, so that they are not stored. Only outdated pages still send
 * them.
 */
function withoutRefused<T extends PresentedEntrega>(policy: PoliticaDeEvidencia, entrega: T): T {
  const { firma, sin_firma, recibido_por, ...rest } = entrega
  const { documento, ...caller } = recibido_por
  return {
    ...rest,
    ...(policy.firma === 'no' ? {} : { firma, sin_firma }),
    recibido_por: policy.documento === 'no' ? caller : recibido_por,
  } as T
}
